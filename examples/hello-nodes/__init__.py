from .nodes import Greeting, RepeatText

NODE_CLASS_MAPPINGS = {
    "HelloGreeting": Greeting,
    "HelloRepeatText": RepeatText,
}

NODE_DISPLAY_NAME_MAPPINGS = {
    "HelloGreeting": "Greeting",
    "HelloRepeatText": "Repeat Text",
}

__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS"]
