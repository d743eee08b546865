const STATUS_NAME = /^(?:NodeVersion|Node|Publisher|HostNode)(?:Status|Policy)([A-Z]\w*)$/;

/** The last part of the name of a status or policy, as sentences have it: `Flagged`; any other text stays as it is. */
export function readStatusWord(name: string): string {
  return STATUS_NAME.exec(name)?.[1] ?? name;
}

/** The short name of a status or policy: `flagged`, `local-only`; undefined for any other text. */
export function shortenStatus(name: string): string | undefined {
  const word = STATUS_NAME.exec(name)?.[1];
  return word?.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
}

/** Completes the short name of a status to that of one of the choices; any other text stays as it is. */
export function completeStatus(text: string, choices: readonly string[]): string {
  const typed = text.toLowerCase().replace(/[ _]/g, '-');
  return choices.find((choice) => shortenStatus(choice) === typed) ?? text;
}
