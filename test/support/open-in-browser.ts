/** Where a browser came to rest. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

/**
 * The least of a browser: opens a URL, follows redirects, keeps cookies, and sends each form it meets as it
 * is filled in, as a page's own script or a person in a hurry would.
 */
export async function openInBrowser(url: string): Promise<Page> {
  const cookies = new Map<string, string>();
  let next: { url: string; body?: URLSearchParams } | undefined = { url };
  for (let steps = 0; next && steps < 20; steps++) {
    const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ');
    const answer: Response = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie },
      ...(next.body ? { method: 'POST', body: next.body } : {}),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name, value] = (line.split(';')[0] as string).split('=') as [string, string];
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    const location = answer.headers.get('location');
    const text = await answer.text();
    const at: string = next.url;
    next = location ? { url: new URL(location, at).href } : findForm(text, at);
    if (!next) return { url: at, status: answer.status, text };
  }
  throw new Error(`${url} leads nowhere.`);
}

function findForm(text: string, at: string): { url: string; body: URLSearchParams } | undefined {
  const action = /<form[^>]*method="post"[^>]*action="([^"]+)"/i.exec(text)?.[1];
  if (!action) return undefined;
  const attribute = (input: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1];
  const fields = Array.from(text.matchAll(/<input[^>]*>/g), ([input]): [string, string] => [
    attribute(input, 'name') ?? '',
    attribute(input, 'value') ?? '',
  ]);
  return { url: new URL(action, at).href, body: new URLSearchParams(fields.filter(([name]) => name)) };
}
