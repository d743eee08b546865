# Completion of regen for fish, generated from its commands. Load it: regen completion fish | source

# Sets the completions after the words $argv[1], and the hint for the value of the flag $argv[2].
function __regen_facts --no-scope-shadowing
    set commands
    set command_texts
    set flags
    set flag_texts
    set arguments
    set hint ''
    switch $argv[1]
        case ''
            set commands publisher node version host-nodes image video task batch webhook admin api auth config doctor completion serve
            set command_texts 'Publishers, their members and their tokens' 'Nodes: create, find, change' 'Versions of a node: pack, publish, read' 'Node definitions of published versions' 'Image generation: relight, style transfer, skin enhancement, upscaling' 'Video generation: from a prompt or images, between two frames, extension, prices' 'Tasks started from this machine: list, wait, download, run again' 'Run many image and video jobs, and print one result per line; run the command...' 'Webhooks: receive, verify, inspect deliveries' 'Administration: statuses, bans, policies, tokens, audit log' 'Send any request with the current credential, and print the response unchanged' 'Sign in, sign out and show the current credential' 'Settings' 'Check the settings, service, clock, credential, proxy, folders and terminal, ...' 'Shell completion of commands, flags and values' 'Run the service (registry and generation) on this machine, and print its URL ...'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin'
            set commands generate-token exec version node publisher host-node audit token
            set command_texts 'Create an admin token that is valid for one hour, and print only the token on...' 'Run a command with a temporary admin token' 'Statuses of versions' 'Bans, search rankings and admin tags of nodes' 'Bans of publishers' 'Policies of node definitions' 'List who changed what, newest first' 'Admin tokens'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin audit'
            set flags --page --limit --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Page number, starting at 1 (at least 1; default 1)' 'Items per page (1 to 100; default 10)' 'Read all pages' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --page --limit --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin exec'
            set flags --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text...'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin generate-token'
            set flags --show --output-file --force --format --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the token even if stdout is a terminal' 'Write the token to a file that only you can read, and print the path of the file' 'Overwrite an existing file' 'Output format: env (REGEN_ADMIN_TOKEN=…), json, or header (Authorization: Bea...' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --output-file --token-file
                    set hint 'file'
                case --format
                    set hint 'choice:env,json,header'
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
            end
        case 'admin host-node'
            set commands set-policy
            set command_texts 'Set the policy of a node definition'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin host-node set-policy'
            set flags --policy --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts '(required; one of HostNodePolicyActive, HostNodePolicyBanned, HostNodePolicyL...' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node' 'live:version' 'text' 'text'
            switch $argv[2]
                case --policy
                    set hint 'choice:HostNodePolicyActive,HostNodePolicyBanned,HostNodePolicyLocalOnly'
                case --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin node'
            set commands ban unban set
            set command_texts 'Ban a node, so that only its publisher and admins can see it' 'Lift the ban on a node' 'Set a node\'s status, ranking and admin tags'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin node ban'
            set flags --status-detail --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Reason, shown to the publisher\'s members (at most 10000 characters)' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node'
            switch $argv[2]
                case --status-detail --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin node set'
            set flags --status --status-detail --tags-admin --search-ranking --preempted-host-node-names --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'NodeStatusActive or NodeStatusBanned (one of NodeStatusActive, NodeStatusDele...' 'Reason, shown to the publisher\'s members (at most 10000 characters)' 'Admin-only tags for security warnings and admin metadata (repeatable)' 'Higher values come first in search results; 0 if not set' 'Host node names preempted by this node (repeatable)' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node'
            switch $argv[2]
                case --status
                    set hint 'choice:NodeStatusActive,NodeStatusDeleted,NodeStatusBanned'
                case --status-detail --tags-admin --search-ranking --preempted-host-node-names --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin node unban'
            set flags --status-detail --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Reason, shown to the publisher\'s members (at most 10000 characters)' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node'
            switch $argv[2]
                case --status-detail --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin publisher'
            set commands ban unban
            set command_texts 'Ban a publisher and hide its nodes from everyone else' 'Lift the ban on a publisher and restore its nodes'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin publisher ban'
            set flags --reason --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Reason, shown to the publisher\'s members (at most 10000 characters)' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --reason --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin publisher unban'
            set flags --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin token'
            set commands list revoke
            set command_texts 'List the valid admin tokens' 'Revoke an admin token'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin token list'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin token revoke'
            set flags --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin version'
            set commands set-status
            set command_texts 'Set a version\'s status and admin tags'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'admin version set-status'
            set flags --status --status-reason --tags-admin --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Optional if only --tags-admin is given (one of NodeVersionStatusActive, NodeV...' 'Reason for the status (at most 10000 characters)' 'Admin-only tags for security warnings and admin metadata (repeatable)' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node' 'live:version' 'text'
            switch $argv[2]
                case --status
                    set hint 'choice:NodeVersionStatusActive,NodeVersionStatusFlagged,NodeVersionStatusBanned'
                case --status-reason --tags-admin --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'api'
            set flags --field --raw-field --body --header --include --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Add a field to the JSON body, or to the query for GET and with --body; number...' 'Add a field as text, without conversion' 'Whole request body' 'Add a request header' 'Print the status line and the headers before the body' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text' 'file'
            switch $argv[2]
                case --field -F --raw-field -f --body --header -H --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'auth'
            set commands login logout status token
            set command_texts 'Sign in to a service in a browser, or store a token read from standard input' 'Remove the stored tokens of a service, and sign out at its identity provider' 'Show who is signed in, on which service, and the source of the credential; ex...' 'Print the current token'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'auth login'
            set flags --device --client-id --audience --with-token --publisher --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Sign in with a browser on another device (default: if there is no browser here)' 'Client id of this program at the identity provider, if the service does not n...' 'Audience of the identity provider\'s tokens (default: the address of the service)' 'Read the token from standard input' 'Store the token as this publisher\'s personal access token, for publishing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --client-id --audience --base-url --request-timeout
                    set hint 'text'
                case --publisher
                    set hint 'live:publisher'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'auth logout'
            set flags --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'auth status'
            set flags --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'auth token'
            set flags --show --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the token even if stdout is a terminal' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'batch'
            set flags --concurrency --max-credits --retry-failed --state --output --force --receipt --timeout --interval --dry-run --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Tasks to run in parallel (1 to 100; default 4)' 'Maximum cost of the whole batch; a job is not sent if its price could exceed ...' 'Retry jobs that failed in earlier runs' 'File that stores the state of each job (default <jobs>.state)' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text'
            switch $argv[2]
                case --concurrency --max-credits --timeout --interval --base-url --request-timeout
                    set hint 'text'
                case --state --output -o --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'completion'
            set commands bash zsh fish powershell
            set command_texts 'Print the completion script for bash' 'Print the completion script for zsh' 'Print the completion script for fish' 'Print the completion script for PowerShell'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'completion bash'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'completion fish'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'completion powershell'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'completion zsh'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'config'
            set commands get set unset list path
            set command_texts 'Print one setting' 'Change a setting' 'Reset a setting to its default' 'List every setting and where its value comes from' 'Print the path of the settings file'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'config get'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'text'
        case 'config list'
            set flags --json --ndjson --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'config path'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'config set'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'text' 'text'
        case 'config unset'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'text'
        case 'doctor'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'host-nodes'
            set commands get list
            set command_texts 'Show one node definition of a version' 'List the node definitions of one version, or of all nodes with filters'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'host-nodes get'
            set flags --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node' 'live:version' 'text'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'host-nodes list'
            set flags --page --page-size --node-id --node-version --host-node-name --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Page number, starting at 1 (at least 1; default 1)' 'Items per page (1 to 100; default 100)' 'Only definitions of this node (at most 1024 characters)' 'Only definitions of this version; default: the latest version of each node (a...' 'Only definitions with this name (at most 1024 characters)' 'Read all pages' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node' 'live:version'
            switch $argv[2]
                case --page --page-size --host-node-name --base-url --request-timeout
                    set hint 'text'
                case --node-id
                    set hint 'live:node'
                case --node-version
                    set hint 'live:version'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'image'
            set commands relight style-transfer skin-enhancer upscaler status
            set command_texts 'Change the light of images with a prompt, a lightmap or a reference image' 'Apply the style of a reference image to images' 'Smooth skin in images and keep edges' 'Enlarge images and add detail' 'Show the status of an image task'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'image relight'
            set flags --advanced-settings.blacks --advanced-settings.brightness --advanced-settings.contrast --advanced-settings.saturation --advanced-settings.whites --advanced-settings.engine --advanced-settings.transfer-light-a --advanced-settings.transfer-light-b --advanced-settings.fixed-generation --no-advanced-settings.fixed-generation --change-background --no-change-background --interpolate-from-original --no-interpolate-from-original --light-transfer-strength --preserve-details --no-preserve-details --prompt --style --transfer-light-from-lightmap --transfer-light-from-reference-image --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Level of blacks (0 to 100; default 50)' 'Brightness (0 to 100; default 50)' 'Contrast (0 to 100; default 50)' 'Saturation (0 to 100; default 50)' 'Level of whites (0 to 100; default 50)' 'Engine that generates the image (one of automatic, balanced, cool, real, illu...' 'How strongly the light is transferred (one of automatic, low, medium, normal,...' 'How the light is blended in (one of automatic, composition, straight, smooth_...' 'Always produce the same image for the same settings' 'Turn off --advanced-settings.fixed-generation' 'Change the background based on prompt and/or reference image (default true)' 'Turn off --change-background' 'Interpolate the final image from the original, using --light-transfer-strengt...' 'Turn off --interpolate-from-original' '0 stays closest to the original, 100 is maximum transfer (0 to 100; default 100)' 'Maintain texture and small details (default true)' 'Turn off --preserve-details' 'Guides the light transfer; emphasize with a number from 1 to 1.4, as in (warm...' 'Style of the result (one of standard, darker_but_realistic, clean, smooth, br...' 'File or URL of a lightmap; incompatible with --transfer-light-from-reference-...' 'File or URL of a reference image; incompatible with --transfer-light-from-lig...' 'Callback URL, notified whenever the task changes status (at most 4096 charact...' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'file...'
            switch $argv[2]
                case --advanced-settings.blacks --advanced-settings.brightness --advanced-settings.contrast --advanced-settings.saturation --advanced-settings.whites --light-transfer-strength --prompt --webhook-url --timeout --interval --max-credits --body --base-url --request-timeout
                    set hint 'text'
                case --advanced-settings.engine
                    set hint 'choice:automatic,balanced,cool,real,illusio,fairy,colorful_anime,hard_transform,softy'
                case --advanced-settings.transfer-light-a
                    set hint 'choice:automatic,low,medium,normal,high,high_on_faces'
                case --advanced-settings.transfer-light-b
                    set hint 'choice:automatic,composition,straight,smooth_in,smooth_out,smooth_both,reverse_both,soft_in,soft_out,soft_mid,strong_mid,style_shift,strong_shift'
                case --style
                    set hint 'choice:standard,darker_but_realistic,clean,smooth,brighter,contrasted_n_hdr,just_composition'
                case --transfer-light-from-lightmap --transfer-light-from-reference-image --output -o --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'image skin-enhancer'
            set flags --sharpen --smart-grain --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Amount of sharpening (0 to 100; default 0)' 'Amount of grain, which keeps skin from looking flat (0 to 100; default 2)' 'Callback URL, notified whenever the task changes status (at most 4096 charact...' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'file...'
            switch $argv[2]
                case --sharpen --smart-grain --webhook-url --timeout --interval --max-credits --body --base-url --request-timeout
                    set hint 'text'
                case --output -o --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'image status'
            set flags --kind --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Kind of the task, if it was not started from this machine (default: try each)' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:task'
            switch $argv[2]
                case --kind
                    set hint 'choice:relight,style-transfer,skin-enhancer,upscaler'
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'image style-transfer'
            set flags --reference-image --engine --fixed-generation --no-fixed-generation --flavor --is-portrait --no-is-portrait --portrait-beautifier --portrait-style --prompt --structure-strength --style-strength --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'File or URL of the style reference (required)' 'Engine that generates the image (one of balanced, definio, illusio, 3d_cartoo...' 'Always produce the same image for the same settings' 'Turn off --fixed-generation' 'Flavor of the style (one of faithful, gen_z, psychedelia, detaily, clear, don...' 'Process the image as a portrait (default false)' 'Turn off --is-portrait' 'Face beautification; used only if --is-portrait is true (one of beautify_face...' 'Portrait style; used only if --is-portrait is true (one of standard, pop, sup...' 'Prompt for the model (at most 100000 characters)' 'How much of the structure of the original is maintained (0 to 100; default 50)' 'Style strength in percent (0 to 100; default 100)' 'Callback URL, notified whenever the task changes status (at most 4096 charact...' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'file' 'file...'
            switch $argv[2]
                case --reference-image --output -o --token-file
                    set hint 'file'
                case --engine
                    set hint 'choice:balanced,definio,illusio,3d_cartoon,colorful_anime,caricature,real,super_real,softy'
                case --flavor
                    set hint 'choice:faithful,gen_z,psychedelia,detaily,clear,donotstyle,donotstyle_sharp'
                case --portrait-beautifier
                    set hint 'choice:beautify_face,beautify_face_max'
                case --portrait-style
                    set hint 'choice:standard,pop,super_pop'
                case --prompt --structure-strength --style-strength --webhook-url --timeout --interval --max-credits --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
            end
        case 'image upscaler'
            set flags --sharpen --smart-grain --ultra-detail --flavor --scale-factor --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Amount of sharpening (0 to 100; default 7)' 'Amount of grain, which keeps surfaces from looking flat (0 to 100; default 7)' 'Amount of detail to add (0 to 100; default 30)' 'Kind of image, or look to aim for (one of sublime, photo, photo_denoiser)' 'How many times larger the result is (2 to 16; default 2)' 'Callback URL, notified whenever the task changes status (at most 4096 charact...' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'file...'
            switch $argv[2]
                case --sharpen --smart-grain --ultra-detail --scale-factor --webhook-url --timeout --interval --max-credits --body --base-url --request-timeout
                    set hint 'text'
                case --flavor
                    set hint 'choice:sublime,photo,photo_denoiser'
                case --output -o --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'node'
            set commands init create get list search update delete
            set command_texts 'Create the pyproject.toml of a node pack, and ask for values that the folder ...' 'Create a node under a publisher' 'Show a node' 'List a publisher\'s nodes' 'Search the nodes of all publishers' 'Update a node\'s details' 'Delete a node; its id cannot be used again'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'node create'
            set flags --author --banner-url --category --description --icon --id --license --name --repository --supported-accelerators --supported-hostui-frontend-version --supported-hostui-version --supported-os --tags --translations --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Author of the node (at most 1000 characters)' 'URL to the node\'s banner (at most 4096 characters)' 'Use tags instead (at most 1000 characters; deprecated)' 'What the node does (at most 1000 characters)' 'URL to the node\'s icon (at most 4096 characters)' 'Unique identifier of the node (required; at most 100 characters)' 'Path to the LICENSE file in the node\'s repository (at most 1000 characters)' 'Display name (required; at most 200 characters)' 'URL to the node\'s repository (at most 4096 characters)' 'Accelerators the node supports (repeatable)' 'Supported frontend versions (at most 1000 characters)' 'Supported host application versions (at most 1000 characters)' 'Operating systems the node supports (repeatable)' 'Tags, which replace the category (repeatable)' 'Translations of node metadata: { "<language>": { "<field>": "text" } }' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --author --banner-url --category --description --icon --id --license --name --repository --supported-accelerators --supported-hostui-frontend-version --supported-hostui-version --supported-os --tags --translations --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'node delete'
            set flags --dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the request with secrets masked, and send nothing' 'Skip the confirmation prompt' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'live:node'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'node get'
            set flags --include-translations --no-include-translations --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Include translations of node metadata (default false)' 'Turn off --include-translations' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'node init'
            set flags --id --name --publisher --version --description --license --repository --force --json --quiet --no-input --no-color --help
            set flag_texts 'Node id (default: from the folder\'s name)' 'Display name (default: from the id)' 'Publisher to publish under' 'First version (default 1.0.0)' 'What the pack does (default: the first paragraph of the README)' 'Licence name, or the path of its file (default: the licence file in the folder)' 'Source repository (default: the git remote)' 'Overwrite an existing pyproject.toml' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'folder'
            switch $argv[2]
                case --id
                    set hint 'live:node'
                case --name --description --repository
                    set hint 'text'
                case --publisher
                    set hint 'live:publisher'
                case --version
                    set hint 'live:version'
                case --license
                    set hint 'file'
            end
        case 'node list'
            set flags --page --limit --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Page number, starting at 1 (at least 1; default 1)' 'Items per page (1 to 100; default 10)' 'Read all pages' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --page --limit --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'node search'
            set flags --page --limit --search --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Page number, starting at 1 (at least 1; default 1)' 'Items per page (1 to 100; default 10)' 'Words to find in the id, name, description or tags (at most 200 characters)' 'Read all pages' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text'
            switch $argv[2]
                case --page --limit --search --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'node update'
            set flags --author --banner-url --category --description --icon --license --name --repository --supported-accelerators --supported-hostui-frontend-version --supported-hostui-version --supported-os --tags --translations --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Author of the node (at most 1000 characters)' 'URL to the node\'s banner (at most 4096 characters)' 'Use tags instead (at most 1000 characters; deprecated)' 'What the node does (at most 1000 characters)' 'URL to the node\'s icon (at most 4096 characters)' 'Path to the LICENSE file in the node\'s repository (at most 1000 characters)' 'Display name (at most 200 characters)' 'URL to the node\'s repository (at most 4096 characters)' 'Accelerators the node supports (repeatable)' 'Supported frontend versions (at most 1000 characters)' 'Supported host application versions (at most 1000 characters)' 'Operating systems the node supports (repeatable)' 'Tags, which replace the category (repeatable)' 'Translations of node metadata: { "<language>": { "<field>": "text" } }' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'live:node'
            switch $argv[2]
                case --author --banner-url --category --description --icon --license --name --repository --supported-accelerators --supported-hostui-frontend-version --supported-hostui-version --supported-os --tags --translations --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher'
            set commands create get list update audit token member
            set command_texts 'Create a publisher and become its first owner' 'Show a publisher' 'List the publishers you belong to' 'Update a publisher' 'List who changed what of a publisher, newest first' 'Personal access tokens for publishing' 'A publisher\'s members'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher audit'
            set flags --page --limit --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Page number, starting at 1 (at least 1; default 1)' 'Items per page (1 to 100; default 10)' 'Read all pages' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --page --limit --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher create'
            set flags --description --id --logo --name --source-code-repo --support --website --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'What the publisher does (at most 100000 characters)' 'Unique identifier, akin to a username; lowercase (required; at most 50 charac...' 'URL to the logo (at most 4096 characters)' 'Display name (required; at most 200 characters)' 'URL of the source code (at most 4096 characters)' 'Where users get support (at most 1000 characters)' 'URL of the website (at most 4096 characters)' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text'
            switch $argv[2]
                case --description --id --logo --name --source-code-repo --support --website --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher get'
            set flags --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher list'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher member'
            set commands add list set remove
            set command_texts 'Add a member by e-mail address' 'List a publisher\'s members' 'Change a member\'s role' 'Remove a member; the last owner cannot be removed'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher member add'
            set flags --email --role --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'E-mail address of the person to add (required; at most 254 characters)' 'owner: may do everything; member: may publish and update versions (required; ...' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'text'
            switch $argv[2]
                case --email --body --base-url --request-timeout
                    set hint 'text'
                case --role
                    set hint 'choice:owner,member'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher member list'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher member remove'
            set flags --dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the request with secrets masked, and send nothing' 'Skip the confirmation prompt' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'text'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher member set'
            set flags --role --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts '(required; one of owner, member)' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'text'
            switch $argv[2]
                case --role
                    set hint 'choice:owner,member'
                case --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher token'
            set commands create list revoke
            set command_texts 'Create a personal access token for publishing' 'List a publisher\'s personal access tokens, masked' 'Revoke a personal access token'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher token create'
            set flags --name --description --expires-at --nodes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'What the token is for (required; at most 100 characters)' 'Notes about the token (at most 1000 characters)' 'When the token expires; default: a year after it is created (at most 64 chara...' 'Ids of the only nodes that it may be used for; default: all of the publisher ...' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'text'
            switch $argv[2]
                case --name --description --expires-at --nodes --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher token list'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher token revoke'
            set flags --dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the request with secrets masked, and send nothing' 'Skip the confirmation prompt' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'text'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'publisher update'
            set flags --description --logo --name --source-code-repo --support --website --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'What the publisher does (at most 100000 characters)' 'URL to the logo (at most 4096 characters)' 'Display name (at most 200 characters)' 'URL of the source code (at most 4096 characters)' 'Where users get support (at most 1000 characters)' 'URL of the website (at most 4096 characters)' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher'
            switch $argv[2]
                case --description --logo --name --source-code-repo --support --website --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'serve'
            set commands init backup restore check status stop rotate-key rotate-token logs
            set command_texts 'Write a configuration file that explains every setting' 'Copy the data of a service, running or not, into a new folder or .zip archive...' 'Copy a backup into a data folder that is new or empty, and check it' 'Check the database and every stored file against its digest; exits 6 if somet...' 'Show the running service; exits 7 if there is none' 'Stop the running service once it has finished its current work' 'Sign new tokens with a new key, whether or not the service is running' 'Replace the token of the embedded owner, whether or not the service is running' 'Print the log of services started in the background'
            set flags --host --port --data --config --detach --check --print-config --json --quiet --no-input --no-color --help
            set flag_texts 'Address to listen on (default 127.0.0.1)' 'Port to listen on, 0 for a free one (default 7717)' 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Service configuration file: TOML if its name ends in .toml, otherwise JSON' 'Run in the background; return once the service is ready' 'Check the configuration, and start nothing' 'Print the configuration with its defaults as JSON, and start nothing' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            switch $argv[2]
                case --host --port
                    set hint 'text'
                case --data
                    set hint 'folder'
                case --config
                    set hint 'file'
            end
        case 'serve backup'
            set flags --data --json --quiet --no-input --no-color --help
            set flag_texts 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'file'
            switch $argv[2]
                case --data
                    set hint 'folder'
            end
        case 'serve check'
            set flags --data --json --quiet --no-input --no-color --help
            set flag_texts 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            switch $argv[2]
                case --data
                    set hint 'folder'
            end
        case 'serve init'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'file'
        case 'serve logs'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'serve restore'
            set flags --data --json --quiet --no-input --no-color --help
            set flag_texts 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'file'
            switch $argv[2]
                case --data
                    set hint 'folder'
            end
        case 'serve rotate-key'
            set flags --data --json --quiet --no-input --no-color --help
            set flag_texts 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            switch $argv[2]
                case --data
                    set hint 'folder'
            end
        case 'serve rotate-token'
            set flags --data --json --quiet --no-input --no-color --help
            set flag_texts 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            switch $argv[2]
                case --data
                    set hint 'folder'
            end
        case 'serve status'
            set flags --data --json --quiet --no-input --no-color --help
            set flag_texts 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            switch $argv[2]
                case --data
                    set hint 'folder'
            end
        case 'serve stop'
            set flags --data --json --quiet --no-input --no-color --help
            set flag_texts 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)' 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            switch $argv[2]
                case --data
                    set hint 'folder'
            end
        case 'task'
            set commands list show wait download rerun
            set command_texts 'List the tasks started from this machine, newest first, in their last known s...' 'Show the local record of a task: request, state, results' 'Wait for tasks to end, and print their output URLs' 'Save the results of a task, and print their paths' 'Send the request of a task again; if it was answered before, this is a new ta...'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'task download'
            set flags --output --force --receipt --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:task'
            switch $argv[2]
                case --output -o --token-file
                    set hint 'file'
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
            end
        case 'task list'
            set flags --json --ndjson --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
        case 'task rerun'
            set flags --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:task'
            switch $argv[2]
                case --output -o --token-file
                    set hint 'file'
                case --timeout --interval --max-credits --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
            end
        case 'task show'
            set flags --json --quiet --no-input --no-color --help
            set flag_texts 'Print the service\'s response unchanged, as one JSON document' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'live:task'
        case 'task wait'
            set flags --all --output --force --receipt --timeout --interval --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Wait for all unfinished tasks that were started from this machine' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:task...'
            switch $argv[2]
                case --output -o --token-file
                    set hint 'file'
                case --timeout --interval --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
            end
        case 'version'
            set commands publish pack check diff update get list delete history download bulk
            set command_texts 'Publish a node pack as a new version, and wait for the registry\'s verdict' 'Write the archive that `version publish` would upload, and send nothing' 'Preview what the registry will list and flag, without uploading; exits 6 if i...' 'Compare the node definitions of two versions, and show what breaks workflows' 'Update a version\'s changelog and deprecated flag' 'Show a version' 'List a node\'s versions, newest first' 'Delete a version; its number cannot be used again' 'Show the status history of a version' 'Save the archive of a version, and print its path' 'Read many versions by node id and version'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'version bulk'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text...'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'version check'
            set flags --publisher --allow-secrets --json --ndjson --quiet --no-input --no-color --help
            set flag_texts 'Publisher, instead of the manifest\'s PublisherId' 'Include files that look like secrets' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'folder'
            switch $argv[2]
                case --publisher
                    set hint 'live:publisher'
            end
        case 'version delete'
            set flags --dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Print the request with secrets masked, and send nothing' 'Skip the confirmation prompt' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'live:node' 'live:version'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'version diff'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node' 'live:version' 'live:version'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'version download'
            set flags --output --force --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'File or folder/ to save to (default <node>-<version>.zip)' 'Overwrite an existing file' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node' 'live:version'
            switch $argv[2]
                case --output -o --token-file
                    set hint 'file'
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
            end
        case 'version get'
            set flags --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node' 'live:version'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'version history'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'live:node' 'live:version'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'version list'
            set flags --statuses --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Only versions with these statuses (one of NodeVersionStatusActive, NodeVersio...' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:node'
            switch $argv[2]
                case --statuses
                    set hint 'choice:NodeVersionStatusActive,NodeVersionStatusDeleted,NodeVersionStatusBanned,NodeVersionStatusPending,NodeVersionStatusFlagged'
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'version pack'
            set flags --list --output --force --allow-secrets --json --ndjson --quiet --no-input --no-color --help
            set flag_texts 'List each file with its size in bytes, and write nothing' 'File or folder/ to write to (default <node>-<version>.zip)' 'Overwrite an existing file' 'Include files that look like secrets' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Show help'
            set arguments 'folder'
            switch $argv[2]
                case --output -o
                    set hint 'file'
            end
        case 'version publish'
            set flags --publisher --changelog --changelog-file --allow-secrets --allow-findings --skip-existing --no-wait --concurrency --timeout --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Publisher, instead of the manifest\'s PublisherId' 'Summary of the changes in this version' 'File with the changelog, or \'-\' for standard input' 'Include files that look like secrets' 'Publish even if a finding would flag the version' 'Succeed if this exact version is already published' 'Exit once the archive is uploaded' 'Folders to publish in parallel (1 to 16; default 3)' 'Maximum time to wait for the registry\'s verdict, such as 90s or 30m (default ...' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'folder...'
            switch $argv[2]
                case --publisher
                    set hint 'live:publisher'
                case --changelog --concurrency --timeout --base-url --request-timeout
                    set hint 'text'
                case --changelog-file --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'version update'
            set flags --changelog --deprecated --no-deprecated --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Summary of changes in this version (at most 100000 characters)' 'Whether this version is deprecated' 'Turn off --deprecated' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:publisher' 'live:node' 'live:version'
            switch $argv[2]
                case --changelog --body --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'video'
            set commands text2video start-end2video extend status prices
            set command_texts 'Make a video from a prompt, a start frame, or both' 'Make a video between a start frame and an end frame' 'Extend a video' 'Show the state and results of a video task' 'Show the prices of videos and images in credits; video prices are per second'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'video extend'
            set flags --model --callback-url --duration --images --payload --prompt --resolution --video-creation-id --video-url --from-task --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Model that generates the video (one of vvq2-pro, vvq2-turbo; default vvq2-turbo)' 'Callback URL for task status updates (at most 4096 characters)' 'Seconds to add (1 to 7; default 5)' 'One image to use as the end frame' 'Returned unchanged with the task (at most 1048576 characters)' 'Describe the video (at most 2000 characters)' 'Resolution of the video (one of 540p, 720p, 1080p; default 720p)' 'Creation id of a generated video; required together with --video-url (at most...' 'URL of the video; required together with --video-creation-id (at most 4096 ch...' 'Task that made the video, instead of --video-creation-id and --video-url' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --model
                    set hint 'choice:vvq2-pro,vvq2-turbo'
                case --callback-url --payload --prompt --video-creation-id --video-url --timeout --interval --max-credits --body --base-url --request-timeout
                    set hint 'text'
                case --duration
                    set hint 'live:duration'
                case --images --output -o --token-file
                    set hint 'file'
                case --resolution
                    set hint 'live:resolution'
                case --from-task
                    set hint 'live:task'
                case --profile
                    set hint 'live:profile'
            end
        case 'video prices'
            set flags --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'video start-end2video'
            set flags --aspect-ratio --audio --no-audio --audio-type --bgm --no-bgm --callback-url --duration --enhance --no-enhance --is-rec --no-is-rec --meta-data --model --movement-amplitude --off-peak --no-off-peak --payload --priority --prompt --resolution --seed --style --voice-id --watermark --no-watermark --wm-position --wm-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Aspect ratio, width to height (one of 16:9, 9:16, 1:1, 3:4, 4:3; default 16:9)' 'Generate audio and video together; default true for vvq3-pro' 'Turn off --audio' 'all: sound effects and vocals; applies when audio is true; no effect for vvq3...' 'Add background music; no effect for vvq3-pro' 'Turn off --bgm' 'Callback URL for task status updates (at most 4096 characters)' 'Seconds, within the limits of the model; default 5 (vv2.0: 4) (1 to 16)' 'Passed on to the model' 'Turn off --enhance' 'Use the recommended prompt; consumes an additional 10 credits' 'Turn off --is-rec' 'Custom metadata as JSON text (at most 1048576 characters)' 'Model that generates the video (one of vvq3-pro, vvq2-pro-fast, vvq2-pro, vvq...' 'Amount of movement; no effect for vvq2-pro-fast, vvq2-pro, vvq2-turbo and vvq...' 'Lower cost; the task is generated within 48 hours' 'Turn off --off-peak' 'Returned unchanged with the task (at most 1048576 characters)' 'Passed on to the model' 'Describe the video (at most 2000 characters)' 'Depends on model and duration; default 720p (vvq1, vvq1-classic: 1080p; vv2.0...' 'Random if not specified' 'Style of the video (one of general, anime)' 'Voice that speaks; no effect for vvq3-pro (at most 1000 characters)' 'Add a watermark (default false)' 'Turn off --watermark' 'Corner of the watermark: 1 top left, 2 top right, 3 bottom right, 4 bottom le...' 'URL of the watermark image; default: a built-in watermark (at most 4096 chara...' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'file...'
            switch $argv[2]
                case --aspect-ratio
                    set hint 'choice:16:9,9:16,1:1,3:4,4:3'
                case --audio-type
                    set hint 'choice:all,speech_only,sound_effect_only'
                case --callback-url --meta-data --payload --priority --prompt --seed --voice-id --wm-position --wm-url --timeout --interval --max-credits --body --base-url --request-timeout
                    set hint 'text'
                case --duration
                    set hint 'live:duration'
                case --model
                    set hint 'choice:vvq3-pro,vvq2-pro-fast,vvq2-pro,vvq2-turbo,vvq1,vvq1-classic,vv2.0'
                case --movement-amplitude
                    set hint 'choice:auto,small,medium,large'
                case --resolution
                    set hint 'live:resolution'
                case --style
                    set hint 'choice:general,anime'
                case --output -o --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'video status'
            set flags --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:task'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'video text2video'
            set flags --aspect-ratio --audio --no-audio --audio-type --bgm --no-bgm --callback-url --duration --enhance --no-enhance --is-rec --no-is-rec --meta-data --model --movement-amplitude --off-peak --no-off-peak --payload --priority --prompt --resolution --seed --style --voice-id --watermark --no-watermark --wm-position --wm-url --images --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Aspect ratio, width to height (one of 16:9, 9:16, 1:1, 3:4, 4:3; default 16:9)' 'Generate audio and video together; default true for vvq3-pro' 'Turn off --audio' 'all: sound effects and vocals; applies when audio is true; no effect for vvq3...' 'Add background music; no effect for vvq3-pro' 'Turn off --bgm' 'Callback URL for task status updates (at most 4096 characters)' 'Seconds, within the limits of the model; default 5 (vv2.0: 4) (1 to 16)' 'Passed on to the model' 'Turn off --enhance' 'Use the recommended prompt; consumes an additional 10 credits' 'Turn off --is-rec' 'Custom metadata as JSON text (at most 1048576 characters)' 'Model that generates the video (one of vvq3-pro, vvq2-pro-fast, vvq2-pro, vvq...' 'Amount of movement; no effect for vvq2-pro-fast, vvq2-pro, vvq2-turbo and vvq...' 'Lower cost; the task is generated within 48 hours' 'Turn off --off-peak' 'Returned unchanged with the task (at most 1048576 characters)' 'Passed on to the model' 'Describe the video (at most 2000 characters)' 'Depends on model and duration; default 720p (vvq1, vvq1-classic: 1080p; vv2.0...' 'Random if not specified' 'Style of the video (one of general, anime)' 'Voice that speaks; no effect for vvq3-pro (at most 1000 characters)' 'Add a watermark (default false)' 'Turn off --watermark' 'Corner of the watermark: 1 top left, 2 top right, 3 bottom right, 4 bottom le...' 'URL of the watermark image; default: a built-in watermark (at most 4096 chara...' 'One image to use as the start frame' 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...' 'Overwrite existing files' 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...' 'Print the task id and exit; resume with `regen task wait`' 'Start a new task, even if an interrupted run of the same command left one unf...' 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...' 'Maximum polling interval (default 10s)' 'Do not start anything if the total price is more than this number of credits' 'Do not ask for confirmation if the price is above the setting confirm_credits' 'Whole request body, instead of its flags' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text'
            switch $argv[2]
                case --aspect-ratio
                    set hint 'choice:16:9,9:16,1:1,3:4,4:3'
                case --audio-type
                    set hint 'choice:all,speech_only,sound_effect_only'
                case --callback-url --meta-data --payload --priority --prompt --seed --voice-id --wm-position --wm-url --timeout --interval --max-credits --body --base-url --request-timeout
                    set hint 'text'
                case --duration
                    set hint 'live:duration'
                case --model
                    set hint 'choice:vvq3-pro,vvq2-pro-fast,vvq2-pro,vvq2-turbo,vvq1,vvq1-classic,vv2.0'
                case --movement-amplitude
                    set hint 'choice:auto,small,medium,large'
                case --resolution
                    set hint 'live:resolution'
                case --style
                    set hint 'choice:general,anime'
                case --images --output -o --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'webhook'
            set commands listen verify secret deliveries
            set command_texts 'Receive webhooks on this machine, verify them, and print one per line (NDJSON...' 'Check whether a webhook is genuine; if not, shows why and exits 2' 'Print the secret that signs your webhooks, or replace it' 'List the sent and pending deliveries of your webhooks, newest first'
            set flags --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'webhook deliveries'
            set flags --task-id --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Only deliveries for this task (at most 1024 characters)' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'live:task'
            switch $argv[2]
                case --task-id
                    set hint 'live:task'
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'webhook listen'
            set flags --port --public-url --forward-to --exec --until --timeout --secret-file --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Port to listen on, 0 for a free one (default 0)' 'Public address of this listener, such as the address of a tunnel' 'Forward each webhook, body and headers unchanged, and return the response' 'Shell command to run for each webhook, with the body on standard input and RE...' 'Exit when this task has ended, according to a webhook or its status; exits 6 ...' 'With --until: maximum time to wait; then exits 8' 'File with the signing secret (default: REGEN_WEBHOOK_SECRET, or the secret re...' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Print the items of a list as JSON, one per line, as they arrive' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --port --public-url --forward-to --exec --timeout --base-url --request-timeout
                    set hint 'text'
                case --until
                    set hint 'live:task'
                case --secret-file --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
        case 'webhook secret'
            set flags --rotate --show --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Create a new secret; for 24 hours, the old one signs too' 'Print the secret even if stdout is a terminal' 'Print the request with secrets masked, and send nothing' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            switch $argv[2]
                case --base-url --request-timeout
                    set hint 'text'
                case --profile
                    set hint 'live:profile'
                case --token-file
                    set hint 'file'
            end
        case 'webhook verify'
            set flags --id --timestamp --signature --secret-file --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help
            set flag_texts 'Value of the webhook-id header' 'Value of the webhook-timestamp header' 'Value of the webhook-signature header' 'File with the signing secret (default: REGEN_WEBHOOK_SECRET, or the secret re...' 'Address of the service' 'Profile to use; \'local\' is the embedded service' 'File with the token to send, or \'-\' for standard input' 'Idle timeout: fail a request that makes no progress for this long (default 60s)' 'Print the service\'s response unchanged, as one JSON document' 'Trace requests on stderr, with secrets masked' 'Only print errors on stderr' 'Never prompt: assume yes to confirmations, fail on missing values' 'Turn off colour' 'Do not start the embedded service' 'Show help'
            set arguments 'text'
            switch $argv[2]
                case --id --timestamp --signature --base-url --request-timeout
                    set hint 'text'
                case --secret-file --token-file
                    set hint 'file'
                case --profile
                    set hint 'live:profile'
            end
    end
end

function __regen_complete
    set -l commands
    set -l command_texts
    set -l flags
    set -l flag_texts
    set -l arguments
    set -l hint ''
    set -l at ''
    set -l flag ''
    set -l prefix ''
    set -l typed
    set -l line (commandline -opc)
    set -e line[1]
    set -l current (commandline -ct)
    for word in $line
        if test -n "$flag"
            set flag ''
        else if string match -q -- '-*=*' $word
            continue
        else if string match -q -- '-*' $word
            __regen_facts "$at" $word
            test -n "$hint"; and set flag $word
        else
            __regen_facts "$at" ''
            if test (count $typed) -eq 0; and contains -- $word $commands
                set at (string trim -- "$at $word")
            else
                set -a typed $word
            end
        end
    end
    if test -z "$flag"; and string match -q -- '--*=*' $current
        set flag (string replace -r -- '=.*' '' $current)
        set prefix "$flag="
        set current (string replace -r -- '^[^=]*=' '' $current)
    end
    __regen_facts "$at" "$flag"
    if test -n "$flag"
        __regen_offer "$hint" "$current" $line | string replace -r -- '^' "$prefix"
    else if string match -q -- '-*' $current
        for i in (seq (count $flags))
            printf '%s\t%s\n' $flags[$i] $flag_texts[$i]
        end
    else
        if test (count $typed) -eq 0
            for i in (seq (count $commands))
                printf '%s\t%s\n' $commands[$i] $command_texts[$i]
            end
        end
        set -l index (math (count $typed) + 1)
        if test $index -gt (count $arguments); and string match -q -- '*...' $arguments[-1]
            set index (count $arguments)
        end
        if test $index -le (count $arguments)
            __regen_offer (string replace -- '...' '' $arguments[$index]) "$current" $line
        end
    end
end

# Prints the values of the hint $argv[1] for the current word $argv[2]; the other arguments are the words before it.
function __regen_offer
    switch $argv[1]
        case 'choice:*'
            string split , -- (string replace choice: '' -- $argv[1])
        case file
            __fish_complete_path $argv[2]
        case folder
            __fish_complete_directories $argv[2]
        case 'live:*'
            regen __complete (string replace live: '' -- $argv[1]) -- $argv[3..] 2>/dev/null
    end
end

complete -c regen -f -a '(__regen_complete)'
