import {
  type Input,
  type ListedDefinition,
  readInputs,
  readList,
} from '../../contract/compare-definitions.js';
import { type Html, html } from './html.js';

/** The colors of the graph editor; other types are gray. */
const COLORS: Readonly<Record<string, string>> = {
  CLIP: '#ffd500',
  CLIP_VISION: '#a8dadc',
  CLIP_VISION_OUTPUT: '#ad7452',
  CONDITIONING: '#ffa931',
  CONTROL_NET: '#6ee7b7',
  GUIDER: '#66ffff',
  IMAGE: '#64b5f6',
  LATENT: '#ff9cf9',
  MASK: '#81c784',
  MODEL: '#b39ddb',
  NOISE: '#b0b0b0',
  SAMPLER: '#ecb4b4',
  SIGMAS: '#cdffcd',
  STYLE_MODEL: '#c2ffae',
  VAE: '#ff6e6e',
};

const WIDTH = 300;
const ROW = 22;
const HEAD = 30;
const MAX_ROWS = 40;

/** Draws a definition as the graph editor shows it: outputs and inputs with sockets, then widgets with their defaults. */
export function drawDefinition(definition: ListedDefinition): Html {
  const { host_node_name: name = '' } = definition;
  const inputs = [...(readInputs(definition.input_types) ?? [])].slice(0, MAX_ROWS);
  const sockets = inputs.filter(([, input]) => !input.isWidget);
  const widgets = inputs.filter(([, input]) => input.isWidget);
  const types = (readList(definition.return_types) ?? []).slice(0, MAX_ROWS);
  const names = readList(definition.return_names) ?? [];
  const top = HEAD + 8 + Math.max(sockets.length, types.length) * ROW;
  const height = top + widgets.length * (ROW + 4) + 10;
  const line = (at: number) => HEAD + 18 + at * ROW;
  return html`<svg class="node" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${`Node ${cut(name, 60)} in the graph editor`}">
<rect class="box" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<text class="title" x="12" y="20">${cut(name, 36)}</text>
${sockets.map(([input, { type, required }], at) => drawSocket({ x: 10, y: line(at), type, name: input, isLeft: true, required }))}${types.map(
  (type, at) =>
    drawSocket({ x: WIDTH - 10, y: line(at), type, name: names[at] ?? type, isLeft: false, required: true }),
)}${widgets.map(([input, settings], at) => drawWidget(input, settings, top + at * (ROW + 4)))}</svg>`;
}

interface Socket {
  readonly x: number;
  readonly y: number;
  readonly type: string;
  readonly name: string;
  readonly isLeft: boolean;
  readonly required: boolean;
}

function drawSocket({ x, y, type, name, isLeft, required }: Socket): Html {
  const color = COLORS[type] ?? '#9a9a9a';
  const fill = required ? color : 'none';
  return html`<circle cx="${x}" cy="${y - 4}" r="4.5" fill="${fill}" stroke="${color}" stroke-width="1.5"><title>${cut(type, 60)}</title></circle><text x="${
    isLeft ? x + 10 : x - 10
  }" y="${y}"${isLeft ? undefined : html` text-anchor="end"`}>${cut(name, 18)}</text>
`;
}

function drawWidget(name: string, { type, initial, choices }: Input, y: number): Html {
  const value = initial ?? (type === 'COMBO' ? choices[0] : undefined);
  const shown = ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
  return html`<rect class="widget" x="14" y="${y}" width="${WIDTH - 28}" height="${ROW}" rx="11"/><text x="26" y="${y + 15}">${cut(name, 18)}</text><text x="${
    WIDTH - 26
  }" y="${y + 15}" text-anchor="end">${cut(shown, 18)}</text>
`;
}

function cut(text: string, most: number): string {
  const letters = [...text.slice(0, most * 2 + 2)];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : letters.join('');
}

/** Rows of a table that says the same as the drawing. */
export function listInputs(definition: ListedDefinition): (Html | string | undefined)[][] {
  return [...(readInputs(definition.input_types) ?? [])]
    .slice(0, 200)
    .map(([name, input]) => [
      html`<code>${cut(name, 100)}</code>`,
      cut(input.type, 60),
      input.required ? 'required' : 'optional',
      describeInput(input),
    ]);
}

function describeInput({ initial, min, max, choices }: Input): string {
  const isPlain = ['string', 'number', 'boolean'].includes(typeof initial);
  const range = min !== undefined || max !== undefined ? `${min ?? 'any'} to ${max ?? 'any'}` : '';
  const listed = choices.slice(0, 12).map((choice) => cut(choice, 40));
  const more = choices.length > listed.length ? ` and ${choices.length - listed.length} more` : '';
  const parts = [
    isPlain && `default ${cut(String(initial), 80)}`,
    range,
    listed.length > 0 && listed.join(', ') + more,
  ];
  return parts.filter(Boolean).join('; ');
}
