import { Ajv2020 } from 'ajv/dist/2020.js';
import { errorCodes } from '../../src/contract/error-codes.js';
import { contract } from '../../src/contract/index.js';
import { createOpenApiDocument } from '../../src/contract/openapi.js';
import { listOperations } from '../../src/contract/operation.js';

/** One answer of a service and its request. */
export interface GivenAnswer {
  readonly method: string;
  /** The final URL, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly type: string | null;
  /** The body as received. */
  readonly text: string;
}

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: {
    'date-time': (text: string) =>
      /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
    uri: (text: string) => URL.canParse(text),
    int32: { type: 'number', validate: (number: number) => number === (number | 0) },
  },
});
ajv.addSchema(createOpenApiDocument(contract, { version: '1' }), 'document');

const json = 'content/application~1json/schema';
const errorSchema = `document#/components/responses/Error/${json}`;

// Sorted, because a path that matches literally takes precedence over one that matches by its parameters.
const routes = Array.from(listOperations(contract), ([name, { method, path, status = 200, response }]) => ({
  name,
  method,
  status,
  schema:
    response && `document#/paths/${formatPointer(path)}/${method.toLowerCase()}/responses/${status}/${json}`,
  form: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  parameters: path.split('{').length,
})).sort((one, other) => one.parameters - other.parameters);

/**
 * Validates an answer against the OpenAPI document: a success against its operation, an error against the
 * error body.
 * @throws Error listing all problems
 */
export function checkAnswer(answer: GivenAnswer): void {
  const wrong = answer.status >= 400 ? listRefusalProblems(answer) : listSuccessProblems(answer);
  if (wrong.length === 0) return;
  const { method, url, status, text } = answer;
  throw new Error(
    `${method} ${url} answered ${status} against the document: ${wrong.join('; ')}\n${text.slice(0, 2000)}`,
  );
}

function listSuccessProblems({ method, url, status, type, text }: GivenAnswer): string[] {
  // Redirects and answers to HEAD have no body.
  if (status >= 300 || method === 'HEAD') return [];
  const path = new URL(url).pathname;
  const route = routes.find((one) => one.method === method && one.form.test(path));
  if (!route) return [];
  if (status !== route.status) return [`${route.name} succeeds with ${route.status}`];
  if (!route.schema) return text === '' ? [] : [`${route.name} answers without a body`];
  return listJsonProblems(route.schema, type, text);
}

function listRefusalProblems({ method, status, type, text }: GivenAnswer): string[] {
  if (method === 'HEAD') return text === '' ? [] : ['a HEAD is answered without a body'];
  const problems = listJsonProblems(errorSchema, type, text);
  if (problems.length > 0) return problems;
  const { error } = JSON.parse(text) as { error: string };
  if (!Object.hasOwn(errorCodes, error)) return [`${error} is not a code of the contract`];
  const declared = errorCodes[error as keyof typeof errorCodes].status;
  return declared === status ? [] : [`the code ${error} belongs to the status ${declared}`];
}

function listJsonProblems(schema: string, type: string | null, text: string): string[] {
  if (!/^application\/json(?:;|$)/.test(type ?? '')) return [`the body is ${type}, not application/json`];
  const validate = ajv.getSchema(schema);
  if (!validate) return [`the document has nothing at ${schema}`];
  if (validate(parseJson(text))) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || 'the body'} ${message}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function formatPointer(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
}
