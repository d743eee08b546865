import { hasValidSignature, type Webhook } from '../../client/webhook.js';

/** Common changes of a body between the socket and the verification, and how to undo them. */
const CHANGES: readonly { readonly happened: string; readonly undo: (text: string) => string | undefined }[] =
  [
    { happened: 'a line break was added to the body', undo: (text) => text.replace(/\r?\n$/, '') },
    { happened: 'white space was added around the body', undo: (text) => text.trim() },
    {
      happened: 'the line breaks of the body were changed to CRLF',
      undo: (text) => text.replaceAll('\r\n', '\n'),
    },
    { happened: 'a byte order mark was put before the body', undo: (text) => text.replace(/^\ufeff/, '') },
    { happened: 'a line break was removed from the end of the body', undo: (text) => `${text}\n` },
    { happened: 'the body was parsed and written again', undo: (text) => rewriteJson(text) },
    {
      happened: 'the body was parsed and written again',
      undo: (text) => rewriteJson(text.trim(), spaceJson),
    },
    { happened: 'the body was parsed and written again', undo: (text) => rewriteJson(text, undefined, 2) },
    { happened: 'the body was parsed and written again', undo: (text) => rewriteJson(text, undefined, 4) },
  ];

/** Finds out how a body was changed after it was signed. */
export function findChange(webhook: Webhook, secrets: readonly string[]): string | undefined {
  const text = Buffer.from(webhook.body).toString('utf8');
  const found = CHANGES.find(({ undo }) => {
    const before = undo(text);
    if (before === undefined || before === text) return false;
    return hasValidSignature({ ...webhook, body: Buffer.from(before) }, secrets);
  });
  return found?.happened;
}

function rewriteJson(text: string, change = (json: string) => json, indent?: number): string | undefined {
  try {
    return change(JSON.stringify(JSON.parse(text), null, indent));
  } catch {
    return undefined;
  }
}

/** Formats JSON as other languages do: a space after each comma and colon outside strings. */
function spaceJson(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) => (part.length === 1 ? `${part} ` : part));
}
