import type { FastifyReply, FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import {
  type AnyCall,
  admitRequest,
  answerRequest,
  type Concern,
  type Exchange,
  type Route,
} from '../../../src/service/http/concern.js';
import { createFullVersions } from '../../../src/service/http/full-versions.js';
import { Refused } from '../../../src/service/operation/refused.js';

const request = {} as FastifyRequest;
const route = {} as Route;
const toCall = (params: object) => ({ params }) as AnyCall;

describe('the concerns of a request', () => {
  it('come before the body in their order, until one has answered', async () => {
    const reply = { sent: false };
    const steps: string[] = [];
    const create = (name: string, answers = false): Concern => ({
      onRequest: async () => {
        steps.push(name);
        reply.sent = answers;
      },
    });
    const around: Concern = { around: (call, next) => next(call) };
    const concerns = [create('first'), around, create('second', true), create('third')];
    expect(await admitRequest(concerns, request, reply as FastifyReply, route)).toBe(reply);
    expect(steps).toEqual(['first', 'second']);
  });

  it('end with the first one that refuses', async () => {
    const refusing: Concern = { onRequest: () => Promise.reject(new Refused('forbidden', 'No.')) };
    const next: Concern = { onRequest: () => expect.unreachable() };
    const admitted = admitRequest([refusing, next], request, { sent: false } as FastifyReply, route);
    await expect(admitted).rejects.toThrow('No.');
  });

  it('are around the handler from the outside in, and each may change the call and the answer', async () => {
    const create = (name: string): Concern => ({
      around: async (call, next) => `${name}(${await next(toCall({ ...call.params, [name]: true }))})`,
    });
    const concerns = [create('outer'), { onRequest: () => {} }, create('inner')];
    const handle = async ({ params }: AnyCall) => Object.keys(params).join('+');
    expect(await answerRequest(concerns, toCall({}), {} as Exchange, handle)).toBe(
      'outer(inner(outer+inner))',
    );
  });
});

describe('a version in a short spelling', () => {
  const missing = (version: unknown) => new Refused('not_found', `No ${version}.`);

  async function find(held: string, call: object, completeVersions = true): Promise<unknown> {
    const { around } = createFullVersions({ compatibility: { completeVersions } } as never);
    const handle = async ({ params, query }: AnyCall) => {
      const { version } = { ...params, ...query } as { version?: string };
      if (version !== held) throw missing(version);
      return version;
    };
    return around?.(call as AnyCall, handle, {} as Exchange);
  }

  it('is looked for in its full spelling once it was not found as it is', async () => {
    expect(await find('1.2.0', { params: { version: '1.2' } })).toBe('1.2.0');
    expect(await find('1.0.0', { params: {}, query: { version: '1' } })).toBe('1.0.0');
    expect(await find('1.2', { params: { version: '1.2' } })).toBe('1.2');
  });

  it('is named as it was given where it does not exist, and where versions are always full', async () => {
    await expect(find('9.9.9', { params: { version: '1.2' } })).rejects.toThrow('No 1.2.');
    await expect(find('1.2.0', { params: { version: '1.2' } }, false)).rejects.toThrow('No 1.2.');
  });
});
