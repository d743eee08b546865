import { isSigned, type Webhook } from '../../client/webhook.js';

/** What commonly happens to a body between a receiver's socket and its check, undone or redone. */
const changes: readonly { readonly happened: string; readonly undo: (text: string) => string | undefined }[] =
  [
    { happened: 'a line end was added to the body', undo: (text) => text.replace(/\r?\n$/, '') },
    { happened: 'white space was added around the body', undo: (text) => text.trim() },
    {
      happened: 'line ends of the body were changed to those of Windows',
      undo: (text) => text.replaceAll('\r\n', '\n'),
    },
    { happened: 'a byte order mark was put before the body', undo: (text) => text.replace(/^\ufeff/, '') },
    { happened: 'a line end was taken off the body', undo: (text) => `${text}\n` },
    { happened: 'the body was parsed and written again', undo: (text) => rewriteJson(text) },
    {
      happened: 'the body was parsed and written again',
      undo: (text) => rewriteJson(text.trim(), spaceJson),
    },
    { happened: 'the body was parsed and written again', undo: (text) => rewriteJson(text, undefined, 2) },
    { happened: 'the body was parsed and written again', undo: (text) => rewriteJson(text, undefined, 4) },
  ];

/** How a body was changed after it was signed, where it was in a way that is known here. */
export function howChanged(webhook: Webhook, secrets: readonly string[]): string | undefined {
  const text = Buffer.from(webhook.body).toString('utf8');
  const found = changes.find(({ undo }) => {
    const before = undo(text);
    if (before === undefined || before === text) return false;
    return isSigned({ ...webhook, body: Buffer.from(before) }, secrets);
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

/** As other languages write JSON: a space after each comma and colon outside of texts. */
function spaceJson(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) => (part.length === 1 ? `${part} ` : part));
}
