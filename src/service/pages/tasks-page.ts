import type { OperationAnswer } from '../operation/call.js';
import { type Html, html, untrusted } from './html.js';
import { drawTime, layOut, linkPages } from './layout.js';
import type { Draw } from './page.js';

type Listed = OperationAnswer<'task.list'>;

/** The tasks of who is signed in, with what they made. */
export const drawTasksPage: Draw<'task.list'> = ({ tasks, page, total, totalPages }: Listed) =>
  layOut({
    title: 'Your tasks - Node registry',
    body: html`<h1>Your tasks</h1>
<p>${total === 0 ? 'No tasks yet.' : total === 1 ? '1 task' : `${total} tasks`}</p>
<ul class="cards">${tasks.map(drawTask)}</ul>
${linkPages(page, totalPages, (other) => `/web/tasks?page=${other}`)}`,
  });

function drawTask({
  task_id: id,
  operation,
  status,
  credits,
  reason,
  created_at,
  results,
}: Listed['tasks'][number]): Html {
  const word = status.toLowerCase();
  return html`<li>
${drawResult(results[0], operation)}
<h2>${operation.replace('.', ' ')}</h2>
<p><span class="status ${word}">${word.replace('_', ' ')}</span> ${drawTime(created_at)} ${credits === 1 ? '1 credit' : `${credits} credits`}</p>
<p>${untrusted(reason, 300)}</p>
<p class="facts">Run it again: <code>regen task rerun ${id}</code></p>
</li>
`;
}

function drawResult(url: string | undefined, operation: string): Html | undefined {
  if (url === undefined) return undefined;
  const isVideo = /\.(?:mp4|webm)(?:\?|$)/.test(url);
  const label = `Result of ${operation.replace('.', ' ')}`;
  if (isVideo) return html`<video src="${url}" controls preload="metadata" aria-label="${label}"></video>`;
  return html`<a href="${url}"><img src="${url}" alt="${label}" loading="lazy"></a>`;
}
