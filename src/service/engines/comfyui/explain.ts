import { isRecord } from '../../../contract/json.js';
import { EngineFailure } from '../../operation/engine.js';

type Fields = Readonly<Record<string, unknown>>;

const toFields = (value: unknown): Fields => (isRecord(value) ? value : {});

/** @param entry of the history. @returns undefined if the prompt succeeded */
export function explainFailure(entry: Fields): EngineFailure | undefined {
  const { status_str, messages } = toFields(entry.status);
  if (status_str === 'success') return undefined;
  const events = (Array.isArray(messages) ? messages : []).filter(Array.isArray);
  const find = (event: string) => events.find(([name]) => name === event)?.[1];
  if (find('execution_interrupted'))
    return new EngineFailure('The workflow was interrupted at ComfyUI.', { code: 'workflow_interrupted' });
  const { node_id, node_type, exception_message } = toFields(find('execution_error'));
  const at = node_id === undefined ? '' : ` at ${describeNode(node_id, node_type)}`;
  return new EngineFailure(`The workflow failed${at}${quote(exception_message)}.`, {
    code: 'workflow_failed',
  });
}

/** Explains why ComfyUI does not run a prompt, node by node. */
export function explainRefusal({ error, node_errors }: Fields): EngineFailure {
  const reasons = Object.entries(toFields(node_errors)).flatMap(([id, node]) => {
    const { class_type, errors } = toFields(node);
    return (Array.isArray(errors) ? errors : []).map((one) => {
      const { message, extra_info } = toFields(one);
      const { input_name } = toFields(extra_info);
      return `${describeNode(id, class_type)}${input_name ? `, input ${cleanText(input_name)}` : ''}${quote(message)}`;
    });
  });
  const { message } = toFields(error);
  const why = reasons.length > 0 ? `: ${reasons.slice(0, 3).join('; ')}` : quote(message);
  return new EngineFailure(`ComfyUI refused the workflow${why}.`, { code: 'workflow_refused' });
}

function describeNode(id: unknown, type: unknown): string {
  return `node ${cleanText(id)} (${cleanText(type)})`;
}

function quote(words: unknown): string {
  const text = cleanText(words).replace(/\.$/, '');
  return text && `: ${text}`;
}

const MAX_CHARACTERS = 300;

/** The first line of a text without paths of the server, URLs and control characters. */
function cleanText(text: unknown): string {
  const [line = ''] = String(text ?? '')
    .slice(0, 10_000)
    .trim()
    .split(/[\r\n]/);
  const hidePath = (word: string) => (/[/\\]/.test(word) ? '…' : word);
  // A path in quotes may have spaces.
  const hidePaths = (piece: string) =>
    /^(?:\/|\w:\\)/.test(piece) ? '…' : piece.split(' ').map(hidePath).join(' ');
  const clean = line
    .split(/(['"])/)
    .map(hidePaths)
    .join('')
    .replace(/\p{C}/gu, '');
  return clean.length > MAX_CHARACTERS ? `${clean.slice(0, MAX_CHARACTERS - 1)}…` : clean;
}
