# Completion of regen for fish, which asks regen itself. Load it: regen completion fish | source

function __regen_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    # fish completes only whole words, so what precedes a path in --flag=path is added to each path.
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    set -l path (string replace -r -- '^--[^=]*=' '' "$current")
    for line in (command regen __complete --current="$current" -- $words 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path "$path" | string replace -r -- '^' "$prefix"
            case :folder
                __fish_complete_directories "$path" | string replace -r -- '^' "$prefix"
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c regen -f -a '(__regen_complete)'
