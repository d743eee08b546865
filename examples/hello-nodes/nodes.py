class Greeting:
    """Greets somebody by name."""

    CATEGORY = "hello/text"
    DESCRIPTION = "Greets somebody by name."
    FUNCTION = "greet"
    RETURN_TYPES = ("STRING",)
    RETURN_NAMES = ("greeting",)

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "name": ("STRING", {"default": "world"}),
                "style": (["friendly", "formal"], {"default": "friendly"}),
            },
        }

    def greet(self, name, style):
        word = "Good day" if style == "formal" else "Hello"
        return (f"{word}, {name}!",)


class RepeatText:
    """Repeats a text, once a line."""

    CATEGORY = "hello/text"
    DESCRIPTION = "Repeats a text, once a line."
    FUNCTION = "repeat"
    RETURN_TYPES = ("STRING", "STRING")
    RETURN_NAMES = ("text", "lines")
    OUTPUT_IS_LIST = (False, True)

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "text": ("STRING", {"multiline": True}),
                "times": ("INT", {"default": 3, "min": 1, "max": 100, "step": 1}),
            },
            "optional": {
                "separator": ("STRING", {"default": "\n"}),
            },
        }

    def repeat(self, text, times, separator="\n"):
        lines = [text] * times
        return (separator.join(lines), lines)
