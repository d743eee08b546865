# Completion of regen for PowerShell, generated from its commands.
# Load it: regen completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName regen -ScriptBlock {
  param($current, $line, $cursor)
  $places = @{
    '' = @{
      commands = [ordered]@{ 'publisher' = 'Publishers, their members and their tokens'; 'node' = 'Nodes: create, find, change'; 'version' = 'Versions of a node: pack, publish, read'; 'host-nodes' = 'Node definitions of published versions'; 'image' = 'Image generation: relight, style transfer, skin enhancement, upscaling'; 'video' = 'Video generation: from a prompt or images, between two frames, extension, prices'; 'task' = 'Tasks started from this machine: list, wait, download, run again'; 'batch' = 'Run many image and video jobs, and print one result per line; run the command...'; 'webhook' = 'Webhooks: receive, verify, inspect deliveries'; 'admin' = 'Administration: statuses, bans, policies, tokens, audit log'; 'api' = 'Send any request with the current credential, and print the response unchanged'; 'auth' = 'Sign in, sign out and show the current credential'; 'config' = 'Settings'; 'doctor' = 'Check the settings, service, clock, credential, proxy, folders and terminal, ...'; 'completion' = 'Shell completion of commands, flags and values'; 'serve' = 'Run the service (registry and generation) on this machine, and print its URL ...' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin' = @{
      commands = [ordered]@{ 'generate-token' = 'Create an admin token that is valid for one hour, and print only the token on...'; 'exec' = 'Run a command with a temporary admin token'; 'version' = 'Statuses of versions'; 'node' = 'Bans, search rankings and admin tags of nodes'; 'publisher' = 'Bans of publishers'; 'host-node' = 'Policies of node definitions'; 'audit' = 'List who changed what, newest first'; 'token' = 'Admin tokens' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin audit' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--page' = 'Page number, starting at 1 (at least 1; default 1)'; '--limit' = 'Items per page (1 to 100; default 10)'; '--all' = 'Read all pages'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--page text', '--limit text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin exec' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text...')
    }
    'admin generate-token' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--show' = 'Print the token even if stdout is a terminal'; '--output-file' = 'Write the token to a file that only you can read, and print the path of the file'; '--force' = 'Overwrite an existing file'; '--format' = 'Output format: env (REGEN_ADMIN_TOKEN=…), json, or header (Authorization: Bea...'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--output-file file', '--format choice:env,json,header', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin host-node' = @{
      commands = [ordered]@{ 'set-policy' = 'Set the policy of a node definition' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin host-node set-policy' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--policy' = '(required; one of HostNodePolicyActive, HostNodePolicyBanned, HostNodePolicyL...'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--policy choice:HostNodePolicyActive,HostNodePolicyBanned,HostNodePolicyLocalOnly', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node', 'live:version', 'text', 'text')
    }
    'admin node' = @{
      commands = [ordered]@{ 'ban' = 'Ban a node, so that only its publisher and admins can see it'; 'unban' = 'Lift the ban on a node'; 'set' = 'Set a node''s status, ranking and admin tags' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin node ban' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--status-detail' = 'Reason, shown to the publisher''s members (at most 10000 characters)'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--status-detail text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node')
    }
    'admin node set' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--status' = 'NodeStatusActive or NodeStatusBanned (one of NodeStatusActive, NodeStatusDele...'; '--status-detail' = 'Reason, shown to the publisher''s members (at most 10000 characters)'; '--tags-admin' = 'Admin-only tags for security warnings and admin metadata (repeatable)'; '--search-ranking' = 'Higher values come first in search results; 0 if not set'; '--preempted-host-node-names' = 'Host node names preempted by this node (repeatable)'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--status choice:NodeStatusActive,NodeStatusDeleted,NodeStatusBanned', '--status-detail text', '--tags-admin text', '--search-ranking text', '--preempted-host-node-names text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node')
    }
    'admin node unban' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--status-detail' = 'Reason, shown to the publisher''s members (at most 10000 characters)'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--status-detail text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node')
    }
    'admin publisher' = @{
      commands = [ordered]@{ 'ban' = 'Ban a publisher and hide its nodes from everyone else'; 'unban' = 'Lift the ban on a publisher and restore its nodes' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin publisher ban' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--reason' = 'Reason, shown to the publisher''s members (at most 10000 characters)'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--reason text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'admin publisher unban' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'admin token' = @{
      commands = [ordered]@{ 'list' = 'List the valid admin tokens'; 'revoke' = 'Revoke an admin token' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin token list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin token revoke' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text')
    }
    'admin version' = @{
      commands = [ordered]@{ 'set-status' = 'Set a version''s status and admin tags' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'admin version set-status' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--status' = 'Optional if only --tags-admin is given (one of NodeVersionStatusActive, NodeV...'; '--status-reason' = 'Reason for the status (at most 10000 characters)'; '--tags-admin' = 'Admin-only tags for security warnings and admin metadata (repeatable)'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--status choice:NodeVersionStatusActive,NodeVersionStatusFlagged,NodeVersionStatusBanned', '--status-reason text', '--tags-admin text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node', 'live:version', 'text')
    }
    'api' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--field' = 'Add a field to the JSON body, or to the query for GET and with --body; number...'; '--raw-field' = 'Add a field as text, without conversion'; '--body' = 'Whole request body'; '--header' = 'Add a request header'; '--include' = 'Print the status line and the headers before the body'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--field text', '-F text', '--raw-field text', '-f text', '--body text', '--header text', '-H text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text', 'file')
    }
    'auth' = @{
      commands = [ordered]@{ 'login' = 'Sign in to a service in a browser, or store a token read from standard input'; 'logout' = 'Remove the stored tokens of a service, and sign out at its identity provider'; 'status' = 'Show who is signed in, on which service, and the source of the credential; ex...'; 'token' = 'Print the current token' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'auth login' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--device' = 'Sign in with a browser on another device (default: if there is no browser here)'; '--client-id' = 'Client id of this program at the identity provider, if the service does not n...'; '--audience' = 'Audience of the identity provider''s tokens (default: the address of the service)'; '--with-token' = 'Read the token from standard input'; '--publisher' = 'Store the token as this publisher''s personal access token, for publishing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--client-id text', '--audience text', '--publisher live:publisher', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'auth logout' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'auth status' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'auth token' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--show' = 'Print the token even if stdout is a terminal'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'batch' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--concurrency' = 'Tasks to run in parallel (1 to 100; default 4)'; '--max-credits' = 'Maximum cost of the whole batch; a job is not sent if its price could exceed ...'; '--retry-failed' = 'Retry jobs that failed in earlier runs'; '--state' = 'File that stores the state of each job (default <jobs>.state)'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--concurrency text', '--max-credits text', '--state file', '--output file', '-o file', '--timeout text', '--interval text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text')
    }
    'completion' = @{
      commands = [ordered]@{ 'bash' = 'Print the completion script for bash'; 'zsh' = 'Print the completion script for zsh'; 'fish' = 'Print the completion script for fish'; 'powershell' = 'Print the completion script for PowerShell' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'completion bash' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'completion fish' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'completion powershell' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'completion zsh' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'config' = @{
      commands = [ordered]@{ 'get' = 'Print one setting'; 'set' = 'Change a setting'; 'unset' = 'Reset a setting to its default'; 'list' = 'List every setting and where its value comes from'; 'path' = 'Print the path of the settings file' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'config get' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @('text')
    }
    'config list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'config path' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'config set' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @('text', 'text')
    }
    'config unset' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @('text')
    }
    'doctor' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'host-nodes' = @{
      commands = [ordered]@{ 'get' = 'Show one node definition of a version'; 'list' = 'List the node definitions of one version, or of all nodes with filters' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'host-nodes get' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node', 'live:version', 'text')
    }
    'host-nodes list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--page' = 'Page number, starting at 1 (at least 1; default 1)'; '--page-size' = 'Items per page (1 to 100; default 100)'; '--node-id' = 'Only definitions of this node (at most 1024 characters)'; '--node-version' = 'Only definitions of this version; default: the latest version of each node (a...'; '--host-node-name' = 'Only definitions with this name (at most 1024 characters)'; '--all' = 'Read all pages'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--page text', '--page-size text', '--node-id live:node', '--node-version live:version', '--host-node-name text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node', 'live:version')
    }
    'image' = @{
      commands = [ordered]@{ 'relight' = 'Change the light of images with a prompt, a lightmap or a reference image'; 'style-transfer' = 'Apply the style of a reference image to images'; 'skin-enhancer' = 'Smooth skin in images and keep edges'; 'upscaler' = 'Enlarge images and add detail'; 'status' = 'Show the status of an image task' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'image relight' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--advanced-settings.blacks' = 'Level of blacks (0 to 100; default 50)'; '--advanced-settings.brightness' = 'Brightness (0 to 100; default 50)'; '--advanced-settings.contrast' = 'Contrast (0 to 100; default 50)'; '--advanced-settings.saturation' = 'Saturation (0 to 100; default 50)'; '--advanced-settings.whites' = 'Level of whites (0 to 100; default 50)'; '--advanced-settings.engine' = 'Engine that generates the image (one of automatic, balanced, cool, real, illu...'; '--advanced-settings.transfer-light-a' = 'How strongly the light is transferred (one of automatic, low, medium, normal,...'; '--advanced-settings.transfer-light-b' = 'How the light is blended in (one of automatic, composition, straight, smooth_...'; '--advanced-settings.fixed-generation' = 'Always produce the same image for the same settings'; '--no-advanced-settings.fixed-generation' = 'Turn off --advanced-settings.fixed-generation'; '--change-background' = 'Change the background based on prompt and/or reference image (default true)'; '--no-change-background' = 'Turn off --change-background'; '--interpolate-from-original' = 'Interpolate the final image from the original, using --light-transfer-strengt...'; '--no-interpolate-from-original' = 'Turn off --interpolate-from-original'; '--light-transfer-strength' = '0 stays closest to the original, 100 is maximum transfer (0 to 100; default 100)'; '--preserve-details' = 'Maintain texture and small details (default true)'; '--no-preserve-details' = 'Turn off --preserve-details'; '--prompt' = 'Guides the light transfer; emphasize with a number from 1 to 1.4, as in (warm...'; '--style' = 'Style of the result (one of standard, darker_but_realistic, clean, smooth, br...'; '--transfer-light-from-lightmap' = 'File or URL of a lightmap; incompatible with --transfer-light-from-reference-...'; '--transfer-light-from-reference-image' = 'File or URL of a reference image; incompatible with --transfer-light-from-lig...'; '--webhook-url' = 'Callback URL, notified whenever the task changes status (at most 4096 charact...'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--advanced-settings.blacks text', '--advanced-settings.brightness text', '--advanced-settings.contrast text', '--advanced-settings.saturation text', '--advanced-settings.whites text', '--advanced-settings.engine choice:automatic,balanced,cool,real,illusio,fairy,colorful_anime,hard_transform,softy', '--advanced-settings.transfer-light-a choice:automatic,low,medium,normal,high,high_on_faces', '--advanced-settings.transfer-light-b choice:automatic,composition,straight,smooth_in,smooth_out,smooth_both,reverse_both,soft_in,soft_out,soft_mid,strong_mid,style_shift,strong_shift', '--light-transfer-strength text', '--prompt text', '--style choice:standard,darker_but_realistic,clean,smooth,brighter,contrasted_n_hdr,just_composition', '--transfer-light-from-lightmap file', '--transfer-light-from-reference-image file', '--webhook-url text', '--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('file...')
    }
    'image skin-enhancer' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--sharpen' = 'Amount of sharpening (0 to 100; default 0)'; '--smart-grain' = 'Amount of grain, which keeps skin from looking flat (0 to 100; default 2)'; '--webhook-url' = 'Callback URL, notified whenever the task changes status (at most 4096 charact...'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--sharpen text', '--smart-grain text', '--webhook-url text', '--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('file...')
    }
    'image status' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--kind' = 'Kind of the task, if it was not started from this machine (default: try each)'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--kind choice:relight,style-transfer,skin-enhancer,upscaler', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:task')
    }
    'image style-transfer' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--reference-image' = 'File or URL of the style reference (required)'; '--engine' = 'Engine that generates the image (one of balanced, definio, illusio, 3d_cartoo...'; '--fixed-generation' = 'Always produce the same image for the same settings'; '--no-fixed-generation' = 'Turn off --fixed-generation'; '--flavor' = 'Flavor of the style (one of faithful, gen_z, psychedelia, detaily, clear, don...'; '--is-portrait' = 'Process the image as a portrait (default false)'; '--no-is-portrait' = 'Turn off --is-portrait'; '--portrait-beautifier' = 'Face beautification; used only if --is-portrait is true (one of beautify_face...'; '--portrait-style' = 'Portrait style; used only if --is-portrait is true (one of standard, pop, sup...'; '--prompt' = 'Prompt for the model (at most 100000 characters)'; '--structure-strength' = 'How much of the structure of the original is maintained (0 to 100; default 50)'; '--style-strength' = 'Style strength in percent (0 to 100; default 100)'; '--webhook-url' = 'Callback URL, notified whenever the task changes status (at most 4096 charact...'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--reference-image file', '--engine choice:balanced,definio,illusio,3d_cartoon,colorful_anime,caricature,real,super_real,softy', '--flavor choice:faithful,gen_z,psychedelia,detaily,clear,donotstyle,donotstyle_sharp', '--portrait-beautifier choice:beautify_face,beautify_face_max', '--portrait-style choice:standard,pop,super_pop', '--prompt text', '--structure-strength text', '--style-strength text', '--webhook-url text', '--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('file', 'file...')
    }
    'image upscaler' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--sharpen' = 'Amount of sharpening (0 to 100; default 7)'; '--smart-grain' = 'Amount of grain, which keeps surfaces from looking flat (0 to 100; default 7)'; '--ultra-detail' = 'Amount of detail to add (0 to 100; default 30)'; '--flavor' = 'Kind of image, or look to aim for (one of sublime, photo, photo_denoiser)'; '--scale-factor' = 'How many times larger the result is (2 to 16; default 2)'; '--webhook-url' = 'Callback URL, notified whenever the task changes status (at most 4096 charact...'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--sharpen text', '--smart-grain text', '--ultra-detail text', '--flavor choice:sublime,photo,photo_denoiser', '--scale-factor text', '--webhook-url text', '--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('file...')
    }
    'node' = @{
      commands = [ordered]@{ 'init' = 'Create the pyproject.toml of a node pack, and ask for values that the folder ...'; 'create' = 'Create a node under a publisher'; 'get' = 'Show a node'; 'list' = 'List a publisher''s nodes'; 'search' = 'Search the nodes of all publishers'; 'update' = 'Update a node''s details'; 'delete' = 'Delete a node; its id cannot be used again' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'node create' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--author' = 'Author of the node (at most 1000 characters)'; '--banner-url' = 'URL to the node''s banner (at most 4096 characters)'; '--category' = 'Use tags instead (at most 1000 characters; deprecated)'; '--description' = 'What the node does (at most 1000 characters)'; '--icon' = 'URL to the node''s icon (at most 4096 characters)'; '--id' = 'Unique identifier of the node (required; at most 100 characters)'; '--license' = 'Path to the LICENSE file in the node''s repository (at most 1000 characters)'; '--name' = 'Display name (required; at most 200 characters)'; '--repository' = 'URL to the node''s repository (at most 4096 characters)'; '--supported-accelerators' = 'Accelerators the node supports (repeatable)'; '--supported-hostui-frontend-version' = 'Supported frontend versions (at most 1000 characters)'; '--supported-hostui-version' = 'Supported host application versions (at most 1000 characters)'; '--supported-os' = 'Operating systems the node supports (repeatable)'; '--tags' = 'Tags, which replace the category (repeatable)'; '--translations' = 'Translations of node metadata: { "<language>": { "<field>": "text" } }'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--author text', '--banner-url text', '--category text', '--description text', '--icon text', '--id text', '--license text', '--name text', '--repository text', '--supported-accelerators text', '--supported-hostui-frontend-version text', '--supported-hostui-version text', '--supported-os text', '--tags text', '--translations text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'node delete' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--yes' = 'Skip the confirmation prompt'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'live:node')
    }
    'node get' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--include-translations' = 'Include translations of node metadata (default false)'; '--no-include-translations' = 'Turn off --include-translations'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node')
    }
    'node init' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--id' = 'Node id (default: from the folder''s name)'; '--name' = 'Display name (default: from the id)'; '--publisher' = 'Publisher to publish under'; '--version' = 'First version (default 1.0.0)'; '--description' = 'What the pack does (default: the first paragraph of the README)'; '--license' = 'Licence name, or the path of its file (default: the licence file in the folder)'; '--repository' = 'Source repository (default: the git remote)'; '--force' = 'Overwrite an existing pyproject.toml'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--id live:node', '--name text', '--publisher live:publisher', '--version live:version', '--description text', '--license file', '--repository text')
      arguments = @('folder')
    }
    'node list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--page' = 'Page number, starting at 1 (at least 1; default 1)'; '--limit' = 'Items per page (1 to 100; default 10)'; '--all' = 'Read all pages'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--page text', '--limit text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'node search' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--page' = 'Page number, starting at 1 (at least 1; default 1)'; '--limit' = 'Items per page (1 to 100; default 10)'; '--search' = 'Words to find in the id, name, description or tags (at most 200 characters)'; '--all' = 'Read all pages'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--page text', '--limit text', '--search text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text')
    }
    'node update' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--author' = 'Author of the node (at most 1000 characters)'; '--banner-url' = 'URL to the node''s banner (at most 4096 characters)'; '--category' = 'Use tags instead (at most 1000 characters; deprecated)'; '--description' = 'What the node does (at most 1000 characters)'; '--icon' = 'URL to the node''s icon (at most 4096 characters)'; '--license' = 'Path to the LICENSE file in the node''s repository (at most 1000 characters)'; '--name' = 'Display name (at most 200 characters)'; '--repository' = 'URL to the node''s repository (at most 4096 characters)'; '--supported-accelerators' = 'Accelerators the node supports (repeatable)'; '--supported-hostui-frontend-version' = 'Supported frontend versions (at most 1000 characters)'; '--supported-hostui-version' = 'Supported host application versions (at most 1000 characters)'; '--supported-os' = 'Operating systems the node supports (repeatable)'; '--tags' = 'Tags, which replace the category (repeatable)'; '--translations' = 'Translations of node metadata: { "<language>": { "<field>": "text" } }'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--author text', '--banner-url text', '--category text', '--description text', '--icon text', '--license text', '--name text', '--repository text', '--supported-accelerators text', '--supported-hostui-frontend-version text', '--supported-hostui-version text', '--supported-os text', '--tags text', '--translations text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'live:node')
    }
    'publisher' = @{
      commands = [ordered]@{ 'create' = 'Create a publisher and become its first owner'; 'get' = 'Show a publisher'; 'list' = 'List the publishers you belong to'; 'update' = 'Update a publisher'; 'audit' = 'List who changed what of a publisher, newest first'; 'token' = 'Personal access tokens for publishing'; 'member' = 'A publisher''s members' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'publisher audit' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--page' = 'Page number, starting at 1 (at least 1; default 1)'; '--limit' = 'Items per page (1 to 100; default 10)'; '--all' = 'Read all pages'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--page text', '--limit text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'publisher create' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--description' = 'What the publisher does (at most 100000 characters)'; '--id' = 'Unique identifier, akin to a username; lowercase (required; at most 50 charac...'; '--logo' = 'URL to the logo (at most 4096 characters)'; '--name' = 'Display name (required; at most 200 characters)'; '--source-code-repo' = 'URL of the source code (at most 4096 characters)'; '--support' = 'Where users get support (at most 1000 characters)'; '--website' = 'URL of the website (at most 4096 characters)'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--description text', '--id text', '--logo text', '--name text', '--source-code-repo text', '--support text', '--website text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text')
    }
    'publisher get' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'publisher list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'publisher member' = @{
      commands = [ordered]@{ 'add' = 'Add a member by e-mail address'; 'list' = 'List a publisher''s members'; 'set' = 'Change a member''s role'; 'remove' = 'Remove a member; the last owner cannot be removed' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'publisher member add' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--email' = 'E-mail address of the person to add (required; at most 254 characters)'; '--role' = 'owner: may do everything; member: may publish and update versions (required; ...'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--email text', '--role choice:owner,member', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'text')
    }
    'publisher member list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'publisher member remove' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--yes' = 'Skip the confirmation prompt'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'text')
    }
    'publisher member set' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--role' = '(required; one of owner, member)'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--role choice:owner,member', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'text')
    }
    'publisher token' = @{
      commands = [ordered]@{ 'create' = 'Create a personal access token for publishing'; 'list' = 'List a publisher''s personal access tokens, masked'; 'revoke' = 'Revoke a personal access token' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'publisher token create' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--name' = 'What the token is for (required; at most 100 characters)'; '--description' = 'Notes about the token (at most 1000 characters)'; '--expires-at' = 'When the token expires; default: a year after it is created (at most 64 chara...'; '--nodes' = 'Ids of the only nodes that it may be used for; default: all of the publisher ...'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--name text', '--description text', '--expires-at text', '--nodes text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'text')
    }
    'publisher token list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'publisher token revoke' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--yes' = 'Skip the confirmation prompt'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'text')
    }
    'publisher update' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--description' = 'What the publisher does (at most 100000 characters)'; '--logo' = 'URL to the logo (at most 4096 characters)'; '--name' = 'Display name (at most 200 characters)'; '--source-code-repo' = 'URL of the source code (at most 4096 characters)'; '--support' = 'Where users get support (at most 1000 characters)'; '--website' = 'URL of the website (at most 4096 characters)'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--description text', '--logo text', '--name text', '--source-code-repo text', '--support text', '--website text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher')
    }
    'serve' = @{
      commands = [ordered]@{ 'init' = 'Write a configuration file that explains every setting'; 'backup' = 'Copy the data of a service, running or not, into a new folder or .zip archive...'; 'restore' = 'Copy a backup into a data folder that is new or empty, and check it'; 'check' = 'Check the database and every stored file against its digest; exits 6 if somet...'; 'status' = 'Show the running service; exits 7 if there is none'; 'stop' = 'Stop the running service once it has finished its current work'; 'rotate-key' = 'Sign new tokens with a new key, whether or not the service is running'; 'rotate-token' = 'Replace the token of the embedded owner, whether or not the service is running'; 'logs' = 'Print the log of services started in the background' }
      flags = [ordered]@{ '--host' = 'Address to listen on (default 127.0.0.1)'; '--port' = 'Port to listen on, 0 for a free one (default 7717)'; '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--config' = 'Service configuration file: TOML if its name ends in .toml, otherwise JSON'; '--detach' = 'Run in the background; return once the service is ready'; '--check' = 'Check the configuration, and start nothing'; '--print-config' = 'Print the configuration with its defaults as JSON, and start nothing'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--host text', '--port text', '--data folder', '--config file')
      arguments = @()
    }
    'serve backup' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--data folder')
      arguments = @('file')
    }
    'serve check' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--data folder')
      arguments = @()
    }
    'serve init' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @('file')
    }
    'serve logs' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'serve restore' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--data folder')
      arguments = @('file')
    }
    'serve rotate-key' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--data folder')
      arguments = @()
    }
    'serve rotate-token' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--data folder')
      arguments = @()
    }
    'serve status' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--data folder')
      arguments = @()
    }
    'serve stop' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--data' = 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--data folder')
      arguments = @()
    }
    'task' = @{
      commands = [ordered]@{ 'list' = 'List the tasks started from this machine, newest first, in their last known s...'; 'show' = 'Show the local record of a task: request, state, results'; 'wait' = 'Wait for tasks to end, and print their output URLs'; 'download' = 'Save the results of a task, and print their paths'; 'rerun' = 'Send the request of a task again; if it was answered before, this is a new ta...' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'task download' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--output file', '-o file', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:task')
    }
    'task list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @()
    }
    'task rerun' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:task')
    }
    'task show' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--json' = 'Print the service''s response unchanged, as one JSON document'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @()
      arguments = @('live:task')
    }
    'task wait' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--all' = 'Wait for all unfinished tasks that were started from this machine'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--output file', '-o file', '--timeout text', '--interval text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:task...')
    }
    'version' = @{
      commands = [ordered]@{ 'publish' = 'Publish a node pack as a new version, and wait for the registry''s verdict'; 'pack' = 'Write the archive that `version publish` would upload, and send nothing'; 'check' = 'Preview what the registry will list and flag, without uploading; exits 6 if i...'; 'diff' = 'Compare the node definitions of two versions, and show what breaks workflows'; 'update' = 'Update a version''s changelog and deprecated flag'; 'get' = 'Show a version'; 'list' = 'List a node''s versions, newest first'; 'delete' = 'Delete a version; its number cannot be used again'; 'history' = 'Show the status history of a version'; 'download' = 'Save the archive of a version, and print its path'; 'bulk' = 'Read many versions by node id and version' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'version bulk' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text...')
    }
    'version check' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--publisher' = 'Publisher, instead of the manifest''s PublisherId'; '--allow-secrets' = 'Include files that look like secrets'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--publisher live:publisher')
      arguments = @('folder')
    }
    'version delete' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--yes' = 'Skip the confirmation prompt'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'live:node', 'live:version')
    }
    'version diff' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node', 'live:version', 'live:version')
    }
    'version download' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--output' = 'File or folder/ to save to (default <node>-<version>.zip)'; '--force' = 'Overwrite an existing file'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--output file', '-o file', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node', 'live:version')
    }
    'version get' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node', 'live:version')
    }
    'version history' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'live:node', 'live:version')
    }
    'version list' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--statuses' = 'Only versions with these statuses (one of NodeVersionStatusActive, NodeVersio...'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--statuses choice:NodeVersionStatusActive,NodeVersionStatusDeleted,NodeVersionStatusBanned,NodeVersionStatusPending,NodeVersionStatusFlagged', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:node')
    }
    'version pack' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--list' = 'List each file with its size in bytes, and write nothing'; '--output' = 'File or folder/ to write to (default <node>-<version>.zip)'; '--force' = 'Overwrite an existing file'; '--allow-secrets' = 'Include files that look like secrets'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--help' = 'Show help' }
      values = @('--output file', '-o file')
      arguments = @('folder')
    }
    'version publish' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--publisher' = 'Publisher, instead of the manifest''s PublisherId'; '--changelog' = 'Summary of the changes in this version'; '--changelog-file' = 'File with the changelog, or ''-'' for standard input'; '--allow-secrets' = 'Include files that look like secrets'; '--allow-findings' = 'Publish even if a finding would flag the version'; '--skip-existing' = 'Succeed if this exact version is already published'; '--no-wait' = 'Exit once the archive is uploaded'; '--concurrency' = 'Folders to publish in parallel (1 to 16; default 3)'; '--timeout' = 'Maximum time to wait for the registry''s verdict, such as 90s or 30m (default ...'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--publisher live:publisher', '--changelog text', '--changelog-file file', '--concurrency text', '--timeout text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('folder...')
    }
    'version update' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--changelog' = 'Summary of changes in this version (at most 100000 characters)'; '--deprecated' = 'Whether this version is deprecated'; '--no-deprecated' = 'Turn off --deprecated'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--changelog text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:publisher', 'live:node', 'live:version')
    }
    'video' = @{
      commands = [ordered]@{ 'text2video' = 'Make a video from a prompt, a start frame, or both'; 'start-end2video' = 'Make a video between a start frame and an end frame'; 'extend' = 'Extend a video'; 'status' = 'Show the state and results of a video task'; 'prices' = 'Show the prices of videos and images in credits; video prices are per second' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'video extend' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--model' = 'Model that generates the video (one of vvq2-pro, vvq2-turbo; default vvq2-turbo)'; '--callback-url' = 'Callback URL for task status updates (at most 4096 characters)'; '--duration' = 'Seconds to add (1 to 7; default 5)'; '--images' = 'One image to use as the end frame'; '--payload' = 'Returned unchanged with the task (at most 1048576 characters)'; '--prompt' = 'Describe the video (at most 2000 characters)'; '--resolution' = 'Resolution of the video (one of 540p, 720p, 1080p; default 720p)'; '--video-creation-id' = 'Creation id of a generated video; required together with --video-url (at most...'; '--video-url' = 'URL of the video; required together with --video-creation-id (at most 4096 ch...'; '--from-task' = 'Task that made the video, instead of --video-creation-id and --video-url'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--model choice:vvq2-pro,vvq2-turbo', '--callback-url text', '--duration live:duration', '--images file', '--payload text', '--prompt text', '--resolution live:resolution', '--video-creation-id text', '--video-url text', '--from-task live:task', '--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'video prices' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'video start-end2video' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--aspect-ratio' = 'Aspect ratio, width to height (one of 16:9, 9:16, 1:1, 3:4, 4:3; default 16:9)'; '--audio' = 'Generate audio and video together; default true for vvq3-pro'; '--no-audio' = 'Turn off --audio'; '--audio-type' = 'all: sound effects and vocals; applies when audio is true; no effect for vvq3...'; '--bgm' = 'Add background music; no effect for vvq3-pro'; '--no-bgm' = 'Turn off --bgm'; '--callback-url' = 'Callback URL for task status updates (at most 4096 characters)'; '--duration' = 'Seconds, within the limits of the model; default 5 (vv2.0: 4) (1 to 16)'; '--enhance' = 'Passed on to the model'; '--no-enhance' = 'Turn off --enhance'; '--is-rec' = 'Use the recommended prompt; consumes an additional 10 credits'; '--no-is-rec' = 'Turn off --is-rec'; '--meta-data' = 'Custom metadata as JSON text (at most 1048576 characters)'; '--model' = 'Model that generates the video (one of vvq3-pro, vvq2-pro-fast, vvq2-pro, vvq...'; '--movement-amplitude' = 'Amount of movement; no effect for vvq2-pro-fast, vvq2-pro, vvq2-turbo and vvq...'; '--off-peak' = 'Lower cost; the task is generated within 48 hours'; '--no-off-peak' = 'Turn off --off-peak'; '--payload' = 'Returned unchanged with the task (at most 1048576 characters)'; '--priority' = 'Passed on to the model'; '--prompt' = 'Describe the video (at most 2000 characters)'; '--resolution' = 'Depends on model and duration; default 720p (vvq1, vvq1-classic: 1080p; vv2.0...'; '--seed' = 'Random if not specified'; '--style' = 'Style of the video (one of general, anime)'; '--voice-id' = 'Voice that speaks; no effect for vvq3-pro (at most 1000 characters)'; '--watermark' = 'Add a watermark (default false)'; '--no-watermark' = 'Turn off --watermark'; '--wm-position' = 'Corner of the watermark: 1 top left, 2 top right, 3 bottom right, 4 bottom le...'; '--wm-url' = 'URL of the watermark image; default: a built-in watermark (at most 4096 chara...'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--aspect-ratio choice:16:9,9:16,1:1,3:4,4:3', '--audio-type choice:all,speech_only,sound_effect_only', '--callback-url text', '--duration live:duration', '--meta-data text', '--model choice:vvq3-pro,vvq2-pro-fast,vvq2-pro,vvq2-turbo,vvq1,vvq1-classic,vv2.0', '--movement-amplitude choice:auto,small,medium,large', '--payload text', '--priority text', '--prompt text', '--resolution live:resolution', '--seed text', '--style choice:general,anime', '--voice-id text', '--wm-position text', '--wm-url text', '--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('file...')
    }
    'video status' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:task')
    }
    'video text2video' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--aspect-ratio' = 'Aspect ratio, width to height (one of 16:9, 9:16, 1:1, 3:4, 4:3; default 16:9)'; '--audio' = 'Generate audio and video together; default true for vvq3-pro'; '--no-audio' = 'Turn off --audio'; '--audio-type' = 'all: sound effects and vocals; applies when audio is true; no effect for vvq3...'; '--bgm' = 'Add background music; no effect for vvq3-pro'; '--no-bgm' = 'Turn off --bgm'; '--callback-url' = 'Callback URL for task status updates (at most 4096 characters)'; '--duration' = 'Seconds, within the limits of the model; default 5 (vv2.0: 4) (1 to 16)'; '--enhance' = 'Passed on to the model'; '--no-enhance' = 'Turn off --enhance'; '--is-rec' = 'Use the recommended prompt; consumes an additional 10 credits'; '--no-is-rec' = 'Turn off --is-rec'; '--meta-data' = 'Custom metadata as JSON text (at most 1048576 characters)'; '--model' = 'Model that generates the video (one of vvq3-pro, vvq2-pro-fast, vvq2-pro, vvq...'; '--movement-amplitude' = 'Amount of movement; no effect for vvq2-pro-fast, vvq2-pro, vvq2-turbo and vvq...'; '--off-peak' = 'Lower cost; the task is generated within 48 hours'; '--no-off-peak' = 'Turn off --off-peak'; '--payload' = 'Returned unchanged with the task (at most 1048576 characters)'; '--priority' = 'Passed on to the model'; '--prompt' = 'Describe the video (at most 2000 characters)'; '--resolution' = 'Depends on model and duration; default 720p (vvq1, vvq1-classic: 1080p; vv2.0...'; '--seed' = 'Random if not specified'; '--style' = 'Style of the video (one of general, anime)'; '--voice-id' = 'Voice that speaks; no effect for vvq3-pro (at most 1000 characters)'; '--watermark' = 'Add a watermark (default false)'; '--no-watermark' = 'Turn off --watermark'; '--wm-position' = 'Corner of the watermark: 1 top left, 2 top right, 3 bottom right, 4 bottom le...'; '--wm-url' = 'URL of the watermark image; default: a built-in watermark (at most 4096 chara...'; '--images' = 'One image to use as the start frame'; '--output' = 'Save the results to a file, a folder/, or a pattern with {name}, {task_id}, {...'; '--force' = 'Overwrite existing files'; '--receipt' = 'Write <file>.receipt.json next to each saved file: request, seed, task id, cr...'; '--no-wait' = 'Print the task id and exit; resume with `regen task wait`'; '--again' = 'Start a new task, even if an interrupted run of the same command left one unf...'; '--timeout' = 'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task...'; '--interval' = 'Maximum polling interval (default 10s)'; '--max-credits' = 'Do not start anything if the total price is more than this number of credits'; '--yes' = 'Do not ask for confirmation if the price is above the setting confirm_credits'; '--body' = 'Whole request body, instead of its flags'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--aspect-ratio choice:16:9,9:16,1:1,3:4,4:3', '--audio-type choice:all,speech_only,sound_effect_only', '--callback-url text', '--duration live:duration', '--meta-data text', '--model choice:vvq3-pro,vvq2-pro-fast,vvq2-pro,vvq2-turbo,vvq1,vvq1-classic,vv2.0', '--movement-amplitude choice:auto,small,medium,large', '--payload text', '--priority text', '--prompt text', '--resolution live:resolution', '--seed text', '--style choice:general,anime', '--voice-id text', '--wm-position text', '--wm-url text', '--images file', '--output file', '-o file', '--timeout text', '--interval text', '--max-credits text', '--body text', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text')
    }
    'webhook' = @{
      commands = [ordered]@{ 'listen' = 'Receive webhooks on this machine, verify them, and print one per line (NDJSON...'; 'verify' = 'Check whether a webhook is genuine; if not, shows why and exits 2'; 'secret' = 'Print the secret that signs your webhooks, or replace it'; 'deliveries' = 'List the sent and pending deliveries of your webhooks, newest first' }
      flags = [ordered]@{ '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'webhook deliveries' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--task-id' = 'Only deliveries for this task (at most 1024 characters)'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--task-id live:task', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('live:task')
    }
    'webhook listen' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--port' = 'Port to listen on, 0 for a free one (default 0)'; '--public-url' = 'Public address of this listener, such as the address of a tunnel'; '--forward-to' = 'Forward each webhook, body and headers unchanged, and return the response'; '--exec' = 'Shell command to run for each webhook, with the body on standard input and RE...'; '--until' = 'Exit when this task has ended, according to a webhook or its status; exits 6 ...'; '--timeout' = 'With --until: maximum time to wait; then exits 8'; '--secret-file' = 'File with the signing secret (default: REGEN_WEBHOOK_SECRET, or the secret re...'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--ndjson' = 'Print the items of a list as JSON, one per line, as they arrive'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--port text', '--public-url text', '--forward-to text', '--exec text', '--until live:task', '--timeout text', '--secret-file file', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'webhook secret' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--rotate' = 'Create a new secret; for 24 hours, the old one signs too'; '--show' = 'Print the secret even if stdout is a terminal'; '--dry-run' = 'Print the request with secrets masked, and send nothing'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @()
    }
    'webhook verify' = @{
      commands = [ordered]@{  }
      flags = [ordered]@{ '--id' = 'Value of the webhook-id header'; '--timestamp' = 'Value of the webhook-timestamp header'; '--signature' = 'Value of the webhook-signature header'; '--secret-file' = 'File with the signing secret (default: REGEN_WEBHOOK_SECRET, or the secret re...'; '--base-url' = 'Address of the service'; '--profile' = 'Profile to use; ''local'' is the embedded service'; '--token-file' = 'File with the token to send, or ''-'' for standard input'; '--request-timeout' = 'Idle timeout: fail a request that makes no progress for this long (default 60s)'; '--json' = 'Print the service''s response unchanged, as one JSON document'; '--verbose' = 'Trace requests on stderr, with secrets masked'; '--quiet' = 'Only print errors on stderr'; '--no-input' = 'Never prompt: assume yes to confirmations, fail on missing values'; '--no-color' = 'Turn off colour'; '--no-autostart' = 'Do not start the embedded service'; '--help' = 'Show help' }
      values = @('--id text', '--timestamp text', '--signature text', '--secret-file file', '--base-url text', '--profile live:profile', '--token-file file', '--request-timeout text')
      arguments = @('text')
    }
  }
  $words = @($line.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  $at = ''
  $flag = ''
  $typed = @()
  foreach ($word in $words) {
    $place = $places[$at]
    # Flags are case-sensitive: -F is not -f.
    if ($flag) { $flag = '' }
    elseif ($word.StartsWith('-')) {
      if ($place.values | Where-Object { $_.StartsWith("$word ", [StringComparison]::Ordinal) }) { $flag = $word }
    }
    elseif ($typed.Count -eq 0 -and $place.commands.Contains($word)) { $at = "$at $word".Trim() }
    else { $typed += $word }
  }
  $place = $places[$at]
  $hint = ''
  $offers = [ordered]@{}
  if ($flag) {
    $value = $place.values | Where-Object { $_.StartsWith("$flag ", [StringComparison]::Ordinal) }
    $hint = $value.Substring($flag.Length + 1)
  }
  elseif ($current.StartsWith('-')) { $offers = $place.flags }
  else {
    if ($typed.Count -eq 0) { $offers = $place.commands }
    $expected = $place.arguments
    if ($typed.Count -lt $expected.Count) { $hint = $expected[$typed.Count] }
    elseif ($expected.Count -gt 0 -and $expected[-1].EndsWith('...')) { $hint = $expected[-1] }
    $hint = $hint -replace '\.\.\.$', ''
  }
  foreach ($name in $offers.Keys) {
    if ($name.StartsWith($current)) {
      [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterName', $offers[$name])
    }
  }
  $values = @()
  if ($hint.StartsWith('choice:')) { $values = $hint.Substring(7).Split(',') }
  if ($hint.StartsWith('live:')) { $values = @(regen __complete $hint.Substring(5) '--' @words 2> $null) }
  foreach ($value in $values) {
    if ($value.StartsWith($current)) {
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $value)
    }
  }
}
