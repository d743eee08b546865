# Completion of regen for PowerShell, which asks regen itself.
# Load it: regen completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName regen -ScriptBlock {
  param($current, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  foreach ($answer in @(regen __complete "--current=$current" '--' @words 2> $null)) {
    $value, $text = $answer -split "`t", 2
    # PowerShell completes paths itself if a completer offers nothing.
    if ($value.StartsWith(':') -or -not $value.StartsWith($current)) { continue }
    if (-not $text) { $text = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
  }
}
