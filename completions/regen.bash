# Completion of regen for bash, generated from its commands. Load it: source <(regen completion bash)

# Sets the completions after the words $1, and the hint for the value of the flag $2.
_regen_facts() {
  commands='' flags='' hint='' arguments=''
  case $1 in
    '')
      commands='publisher node version host-nodes image video task batch webhook admin api auth config doctor completion serve'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin')
      commands='generate-token exec version node publisher host-node audit token'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin audit')
      flags='--page --limit --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --page | --limit | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin exec')
      flags='--dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text...'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin generate-token')
      flags='--show --output-file --force --format --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --output-file | --token-file) hint=file ;;
        --format) hint=choice:env,json,header ;;
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'admin host-node')
      commands='set-policy'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin host-node set-policy')
      flags='--policy --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node live:version text text'
      case $2 in
        --policy) hint=choice:HostNodePolicyActive,HostNodePolicyBanned,HostNodePolicyLocalOnly ;;
        --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin node')
      commands='ban unban set'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin node ban')
      flags='--status-detail --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node'
      case $2 in
        --status-detail | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin node set')
      flags='--status --status-detail --tags-admin --search-ranking --preempted-host-node-names --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node'
      case $2 in
        --status) hint=choice:NodeStatusActive,NodeStatusDeleted,NodeStatusBanned ;;
        --status-detail | --tags-admin | --search-ranking | --preempted-host-node-names | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin node unban')
      flags='--status-detail --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node'
      case $2 in
        --status-detail | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin publisher')
      commands='ban unban'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin publisher ban')
      flags='--reason --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --reason | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin publisher unban')
      flags='--dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin token')
      commands='list revoke'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin token list')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin token revoke')
      flags='--dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin version')
      commands='set-status'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'admin version set-status')
      flags='--status --status-reason --tags-admin --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node live:version text'
      case $2 in
        --status) hint=choice:NodeVersionStatusActive,NodeVersionStatusFlagged,NodeVersionStatusBanned ;;
        --status-reason | --tags-admin | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'api')
      flags='--field --raw-field --body --header --include --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text file'
      case $2 in
        --field | -F | --raw-field | -f | --body | --header | -H | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'auth')
      commands='login logout status token'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'auth login')
      flags='--device --client-id --audience --with-token --publisher --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --client-id | --audience | --base-url | --request-timeout) hint=text ;;
        --publisher) hint=live:publisher ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'auth logout')
      flags='--base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'auth status')
      flags='--base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'auth token')
      flags='--show --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'batch')
      flags='--concurrency --max-credits --retry-failed --state --output --force --receipt --timeout --interval --dry-run --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text'
      case $2 in
        --concurrency | --max-credits | --timeout | --interval | --base-url | --request-timeout) hint=text ;;
        --state | --output | -o | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'completion')
      commands='bash zsh fish powershell'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'completion bash')
      flags='--json --quiet --no-input --no-color --help'
      ;;
    'completion fish')
      flags='--json --quiet --no-input --no-color --help'
      ;;
    'completion powershell')
      flags='--json --quiet --no-input --no-color --help'
      ;;
    'completion zsh')
      flags='--json --quiet --no-input --no-color --help'
      ;;
    'config')
      commands='get set unset list path'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'config get')
      flags='--json --quiet --no-input --no-color --help'
      arguments='text'
      ;;
    'config list')
      flags='--json --ndjson --quiet --no-input --no-color --help'
      ;;
    'config path')
      flags='--json --quiet --no-input --no-color --help'
      ;;
    'config set')
      flags='--json --quiet --no-input --no-color --help'
      arguments='text text'
      ;;
    'config unset')
      flags='--json --quiet --no-input --no-color --help'
      arguments='text'
      ;;
    'doctor')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'host-nodes')
      commands='get list'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'host-nodes get')
      flags='--base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node live:version text'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'host-nodes list')
      flags='--page --page-size --node-id --node-version --host-node-name --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node live:version'
      case $2 in
        --page | --page-size | --host-node-name | --base-url | --request-timeout) hint=text ;;
        --node-id) hint=live:node ;;
        --node-version) hint=live:version ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'image')
      commands='relight style-transfer skin-enhancer upscaler status'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'image relight')
      flags='--advanced-settings.blacks --advanced-settings.brightness --advanced-settings.contrast --advanced-settings.saturation --advanced-settings.whites --advanced-settings.engine --advanced-settings.transfer-light-a --advanced-settings.transfer-light-b --advanced-settings.fixed-generation --no-advanced-settings.fixed-generation --change-background --no-change-background --interpolate-from-original --no-interpolate-from-original --light-transfer-strength --preserve-details --no-preserve-details --prompt --style --transfer-light-from-lightmap --transfer-light-from-reference-image --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='file...'
      case $2 in
        --advanced-settings.blacks | --advanced-settings.brightness | --advanced-settings.contrast | --advanced-settings.saturation | --advanced-settings.whites | --light-transfer-strength | --prompt | --webhook-url | --timeout | --interval | --max-credits | --body | --base-url | --request-timeout) hint=text ;;
        --advanced-settings.engine) hint=choice:automatic,balanced,cool,real,illusio,fairy,colorful_anime,hard_transform,softy ;;
        --advanced-settings.transfer-light-a) hint=choice:automatic,low,medium,normal,high,high_on_faces ;;
        --advanced-settings.transfer-light-b) hint=choice:automatic,composition,straight,smooth_in,smooth_out,smooth_both,reverse_both,soft_in,soft_out,soft_mid,strong_mid,style_shift,strong_shift ;;
        --style) hint=choice:standard,darker_but_realistic,clean,smooth,brighter,contrasted_n_hdr,just_composition ;;
        --transfer-light-from-lightmap | --transfer-light-from-reference-image | --output | -o | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'image skin-enhancer')
      flags='--sharpen --smart-grain --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='file...'
      case $2 in
        --sharpen | --smart-grain | --webhook-url | --timeout | --interval | --max-credits | --body | --base-url | --request-timeout) hint=text ;;
        --output | -o | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'image status')
      flags='--kind --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:task'
      case $2 in
        --kind) hint=choice:relight,style-transfer,skin-enhancer,upscaler ;;
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'image style-transfer')
      flags='--reference-image --engine --fixed-generation --no-fixed-generation --flavor --is-portrait --no-is-portrait --portrait-beautifier --portrait-style --prompt --structure-strength --style-strength --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='file file...'
      case $2 in
        --reference-image | --output | -o | --token-file) hint=file ;;
        --engine) hint=choice:balanced,definio,illusio,3d_cartoon,colorful_anime,caricature,real,super_real,softy ;;
        --flavor) hint=choice:faithful,gen_z,psychedelia,detaily,clear,donotstyle,donotstyle_sharp ;;
        --portrait-beautifier) hint=choice:beautify_face,beautify_face_max ;;
        --portrait-style) hint=choice:standard,pop,super_pop ;;
        --prompt | --structure-strength | --style-strength | --webhook-url | --timeout | --interval | --max-credits | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'image upscaler')
      flags='--sharpen --smart-grain --ultra-detail --flavor --scale-factor --webhook-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='file...'
      case $2 in
        --sharpen | --smart-grain | --ultra-detail | --scale-factor | --webhook-url | --timeout | --interval | --max-credits | --body | --base-url | --request-timeout) hint=text ;;
        --flavor) hint=choice:sublime,photo,photo_denoiser ;;
        --output | -o | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'node')
      commands='init create get list search update delete'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'node create')
      flags='--author --banner-url --category --description --icon --id --license --name --repository --supported-accelerators --supported-hostui-frontend-version --supported-hostui-version --supported-os --tags --translations --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --author | --banner-url | --category | --description | --icon | --id | --license | --name | --repository | --supported-accelerators | --supported-hostui-frontend-version | --supported-hostui-version | --supported-os | --tags | --translations | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'node delete')
      flags='--dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher live:node'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'node get')
      flags='--include-translations --no-include-translations --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'node init')
      flags='--id --name --publisher --version --description --license --repository --force --json --quiet --no-input --no-color --help'
      arguments='folder'
      case $2 in
        --id) hint=live:node ;;
        --name | --description | --repository) hint=text ;;
        --publisher) hint=live:publisher ;;
        --version) hint=live:version ;;
        --license) hint=file ;;
      esac
      ;;
    'node list')
      flags='--page --limit --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --page | --limit | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'node search')
      flags='--page --limit --search --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text'
      case $2 in
        --page | --limit | --search | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'node update')
      flags='--author --banner-url --category --description --icon --license --name --repository --supported-accelerators --supported-hostui-frontend-version --supported-hostui-version --supported-os --tags --translations --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher live:node'
      case $2 in
        --author | --banner-url | --category | --description | --icon | --license | --name | --repository | --supported-accelerators | --supported-hostui-frontend-version | --supported-hostui-version | --supported-os | --tags | --translations | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher')
      commands='create get list update audit token member'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher audit')
      flags='--page --limit --all --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --page | --limit | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher create')
      flags='--description --id --logo --name --source-code-repo --support --website --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text'
      case $2 in
        --description | --id | --logo | --name | --source-code-repo | --support | --website | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher get')
      flags='--base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher list')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher member')
      commands='add list set remove'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher member add')
      flags='--email --role --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher text'
      case $2 in
        --email | --body | --base-url | --request-timeout) hint=text ;;
        --role) hint=choice:owner,member ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher member list')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher member remove')
      flags='--dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher text'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher member set')
      flags='--role --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher text'
      case $2 in
        --role) hint=choice:owner,member ;;
        --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher token')
      commands='create list revoke'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher token create')
      flags='--name --description --expires-at --nodes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher text'
      case $2 in
        --name | --description | --expires-at | --nodes | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher token list')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher token revoke')
      flags='--dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher text'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'publisher update')
      flags='--description --logo --name --source-code-repo --support --website --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher'
      case $2 in
        --description | --logo | --name | --source-code-repo | --support | --website | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'serve')
      commands='init backup restore check status stop rotate-key rotate-token logs'
      flags='--host --port --data --config --detach --check --print-config --json --quiet --no-input --no-color --help'
      case $2 in
        --host | --port) hint=text ;;
        --data) hint=folder ;;
        --config) hint=file ;;
      esac
      ;;
    'serve backup')
      flags='--data --json --quiet --no-input --no-color --help'
      arguments='file'
      case $2 in
        --data) hint=folder ;;
      esac
      ;;
    'serve check')
      flags='--data --json --quiet --no-input --no-color --help'
      case $2 in
        --data) hint=folder ;;
      esac
      ;;
    'serve init')
      flags='--json --quiet --no-input --no-color --help'
      arguments='file'
      ;;
    'serve logs')
      flags='--json --quiet --no-input --no-color --help'
      ;;
    'serve restore')
      flags='--data --json --quiet --no-input --no-color --help'
      arguments='file'
      case $2 in
        --data) hint=folder ;;
      esac
      ;;
    'serve rotate-key')
      flags='--data --json --quiet --no-input --no-color --help'
      case $2 in
        --data) hint=folder ;;
      esac
      ;;
    'serve rotate-token')
      flags='--data --json --quiet --no-input --no-color --help'
      case $2 in
        --data) hint=folder ;;
      esac
      ;;
    'serve status')
      flags='--data --json --quiet --no-input --no-color --help'
      case $2 in
        --data) hint=folder ;;
      esac
      ;;
    'serve stop')
      flags='--data --json --quiet --no-input --no-color --help'
      case $2 in
        --data) hint=folder ;;
      esac
      ;;
    'task')
      commands='list show wait download rerun'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'task download')
      flags='--output --force --receipt --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:task'
      case $2 in
        --output | -o | --token-file) hint=file ;;
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'task list')
      flags='--json --ndjson --quiet --no-input --no-color --help'
      ;;
    'task rerun')
      flags='--output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:task'
      case $2 in
        --output | -o | --token-file) hint=file ;;
        --timeout | --interval | --max-credits | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'task show')
      flags='--json --quiet --no-input --no-color --help'
      arguments='live:task'
      ;;
    'task wait')
      flags='--all --output --force --receipt --timeout --interval --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:task...'
      case $2 in
        --output | -o | --token-file) hint=file ;;
        --timeout | --interval | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'version')
      commands='publish pack check diff update get list delete history download bulk'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'version bulk')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text...'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'version check')
      flags='--publisher --allow-secrets --json --ndjson --quiet --no-input --no-color --help'
      arguments='folder'
      case $2 in
        --publisher) hint=live:publisher ;;
      esac
      ;;
    'version delete')
      flags='--dry-run --yes --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher live:node live:version'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'version diff')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node live:version live:version'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'version download')
      flags='--output --force --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node live:version'
      case $2 in
        --output | -o | --token-file) hint=file ;;
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'version get')
      flags='--base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node live:version'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'version history')
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher live:node live:version'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'version list')
      flags='--statuses --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:node'
      case $2 in
        --statuses) hint=choice:NodeVersionStatusActive,NodeVersionStatusDeleted,NodeVersionStatusBanned,NodeVersionStatusPending,NodeVersionStatusFlagged ;;
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'version pack')
      flags='--list --output --force --allow-secrets --json --ndjson --quiet --no-input --no-color --help'
      arguments='folder'
      case $2 in
        --output | -o) hint=file ;;
      esac
      ;;
    'version publish')
      flags='--publisher --changelog --changelog-file --allow-secrets --allow-findings --skip-existing --no-wait --concurrency --timeout --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='folder...'
      case $2 in
        --publisher) hint=live:publisher ;;
        --changelog | --concurrency | --timeout | --base-url | --request-timeout) hint=text ;;
        --changelog-file | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'version update')
      flags='--changelog --deprecated --no-deprecated --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:publisher live:node live:version'
      case $2 in
        --changelog | --body | --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'video')
      commands='text2video start-end2video extend status prices'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'video extend')
      flags='--model --callback-url --duration --images --payload --prompt --resolution --video-creation-id --video-url --from-task --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --model) hint=choice:vvq2-pro,vvq2-turbo ;;
        --callback-url | --payload | --prompt | --video-creation-id | --video-url | --timeout | --interval | --max-credits | --body | --base-url | --request-timeout) hint=text ;;
        --duration) hint=live:duration ;;
        --images | --output | -o | --token-file) hint=file ;;
        --resolution) hint=live:resolution ;;
        --from-task) hint=live:task ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'video prices')
      flags='--base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'video start-end2video')
      flags='--aspect-ratio --audio --no-audio --audio-type --bgm --no-bgm --callback-url --duration --enhance --no-enhance --is-rec --no-is-rec --meta-data --model --movement-amplitude --off-peak --no-off-peak --payload --priority --prompt --resolution --seed --style --voice-id --watermark --no-watermark --wm-position --wm-url --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='file...'
      case $2 in
        --aspect-ratio) hint=choice:16:9,9:16,1:1,3:4,4:3 ;;
        --audio-type) hint=choice:all,speech_only,sound_effect_only ;;
        --callback-url | --meta-data | --payload | --priority | --prompt | --seed | --voice-id | --wm-position | --wm-url | --timeout | --interval | --max-credits | --body | --base-url | --request-timeout) hint=text ;;
        --duration) hint=live:duration ;;
        --model) hint=choice:vvq3-pro,vvq2-pro-fast,vvq2-pro,vvq2-turbo,vvq1,vvq1-classic,vv2.0 ;;
        --movement-amplitude) hint=choice:auto,small,medium,large ;;
        --resolution) hint=live:resolution ;;
        --style) hint=choice:general,anime ;;
        --output | -o | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'video status')
      flags='--base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:task'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'video text2video')
      flags='--aspect-ratio --audio --no-audio --audio-type --bgm --no-bgm --callback-url --duration --enhance --no-enhance --is-rec --no-is-rec --meta-data --model --movement-amplitude --off-peak --no-off-peak --payload --priority --prompt --resolution --seed --style --voice-id --watermark --no-watermark --wm-position --wm-url --images --output --force --receipt --no-wait --again --timeout --interval --max-credits --yes --body --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text'
      case $2 in
        --aspect-ratio) hint=choice:16:9,9:16,1:1,3:4,4:3 ;;
        --audio-type) hint=choice:all,speech_only,sound_effect_only ;;
        --callback-url | --meta-data | --payload | --priority | --prompt | --seed | --voice-id | --wm-position | --wm-url | --timeout | --interval | --max-credits | --body | --base-url | --request-timeout) hint=text ;;
        --duration) hint=live:duration ;;
        --model) hint=choice:vvq3-pro,vvq2-pro-fast,vvq2-pro,vvq2-turbo,vvq1,vvq1-classic,vv2.0 ;;
        --movement-amplitude) hint=choice:auto,small,medium,large ;;
        --resolution) hint=live:resolution ;;
        --style) hint=choice:general,anime ;;
        --images | --output | -o | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'webhook')
      commands='listen verify secret deliveries'
      flags='--base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'webhook deliveries')
      flags='--task-id --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='live:task'
      case $2 in
        --task-id) hint=live:task ;;
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'webhook listen')
      flags='--port --public-url --forward-to --exec --until --timeout --secret-file --base-url --profile --token-file --request-timeout --json --ndjson --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --port | --public-url | --forward-to | --exec | --timeout | --base-url | --request-timeout) hint=text ;;
        --until) hint=live:task ;;
        --secret-file | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
    'webhook secret')
      flags='--rotate --show --dry-run --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      case $2 in
        --base-url | --request-timeout) hint=text ;;
        --profile) hint=live:profile ;;
        --token-file) hint=file ;;
      esac
      ;;
    'webhook verify')
      flags='--id --timestamp --signature --secret-file --base-url --profile --token-file --request-timeout --json --verbose --quiet --no-input --no-color --no-autostart --help'
      arguments='text'
      case $2 in
        --id | --timestamp | --signature | --base-url | --request-timeout) hint=text ;;
        --secret-file | --token-file) hint=file ;;
        --profile) hint=live:profile ;;
      esac
      ;;
  esac
}

_regen() {
  local current=${COMP_WORDS[COMP_CWORD]} at='' flag='' word i index
  local commands flags hint arguments
  local typed=() expected=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      # In --flag=value, the = is a separate word.
      [[ $word == '=' ]] || flag=''
    elif [[ $word == -* ]]; then
      _regen_facts "$at" "$word"
      [[ -n $hint ]] && flag=$word
    else
      _regen_facts "$at" ''
      if [[ ${#typed[@]} == 0 && " $commands " == *" $word "* ]]; then
        at="${at:+$at }$word"
      else
        typed+=("$word")
      fi
    fi
  done
  [[ -n $flag && $current == '=' ]] && current=''
  _regen_facts "$at" "$flag"
  if [[ -n $flag ]]; then
    _regen_offer
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    [[ ${#typed[@]} == 0 ]] && COMPREPLY=($(compgen -W "$commands" -- "$current"))
    expected=($arguments)
    index=${#typed[@]}
    if ((index >= ${#expected[@]} && ${#expected[@]} > 0)); then
      index=$((${#expected[@]} - 1))
      [[ ${expected[index]} == *... ]] || return
    fi
    hint=${expected[index]%...}
    _regen_offer
  fi
}

_regen_offer() {
  local value
  case $hint in
    choice:*)
      hint=${hint#choice:}
      COMPREPLY+=($(compgen -W "${hint//,/ }" -- "$current"))
      ;;
    file | folder)
      compopt -o filenames 2> /dev/null
      while IFS= read -r value; do
        COMPREPLY+=("$value")
      done < <(compgen "$([[ $hint == file ]] && echo -f || echo -d)" -- "$current")
      ;;
    live:*)
      # compgen -W would run code in a value.
      while IFS= read -r value; do
        [[ $value == "$current"* ]] && COMPREPLY+=("$value")
      done < <(regen __complete "${hint#live:}" -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)
      ;;
  esac
}

complete -F _regen regen
