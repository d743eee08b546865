import type { CompletionPoint, Offer } from './table.js';

/** PowerShell offers paths itself if a completer offers nothing. */
export function buildPowershellScript(points: readonly CompletionPoint[]): string {
  return `# Completion of regen for PowerShell, generated from its commands.
# Load it: regen completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName regen -ScriptBlock {
  param($current, $line, $cursor)
  $places = @{
${points.map(formatEntry).join('\n')}
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
    $hint = $hint -replace '\\.\\.\\.$', ''
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
`;
}

function formatEntry({ path, commands, flags, values, arguments: expected }: CompletionPoint): string {
  return `    ${quote(path)} = @{
      commands = ${formatTable(commands)}
      flags = ${formatTable(flags)}
      values = @(${values.map(({ name, hint }) => quote(`${name} ${hint}`)).join(', ')})
      arguments = @(${expected.map(quote).join(', ')})
    }`;
}

function formatTable(offered: readonly Offer[]): string {
  const entries = offered.map(({ name, text }) => `${quote(name)} = ${quote(text || name)}`);
  return `[ordered]@{ ${entries.join('; ')} }`;
}

// PowerShell treats typographic quotes as quotes, too.
function quote(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
}
