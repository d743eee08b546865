import type { FastifyInstance } from 'fastify';

/**
 * Which methods the routes added from now on know at a path, since the framework itself answers 404 where only the
 * method is wrong.
 */
export function allowedMethods(app: FastifyInstance): (url: string) => string[] {
  const methods = new Map<string, { readonly form: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? { form: formOf(url), methods: new Set() };
    methods.set(url, known);
    for (const one of [method].flat()) known.methods.add(one);
  });
  return (url) => {
    const path = url.split(/[?#]/)[0] as string;
    const matching = [...methods.values()].filter(({ form }) => form.test(path));
    return [...new Set(matching.flatMap((route) => [...route.methods]))].sort();
  };
}

function formOf(url: string): RegExp {
  const parts = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${parts.join('/')}$`);
}
