import { z } from 'zod';
import { image } from './image.js';
import { operation } from './operation.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject, defineRequest } from './schema/values.js';
import { Budget } from './usage.js';
import { video } from './video.js';

const startOperations = [
  ...Object.entries(image).flatMap(([name, { task }]) => (task ? [`image.${name}`] : [])),
  ...Object.entries(video).flatMap(([name, { task }]) => (task ? [`video.${name}`] : [])),
];

// Decided: a publisher's scripts have personal access tokens; an API key starts tasks for the user who created it.
const ApiKey = defineObject('ApiKey', {
  id: z.string(),
  name: z.string(),
  token: z
    .string()
    .describe('The whole key when it was just created, otherwise its first 4 characters and a mask'),
  operations: z
    .array(z.string())
    .optional()
    .describe('The only operations that it may start; absent if it may start all'),
  budget: Budget.optional().describe('Absent if only the limit of its user applies'),
  created_at: DateTime,
  expires_at: DateTime,
  last_used_at: DateTime.optional(),
});

const NewApiKey = defineRequest('NewApiKey', {
  name: z.string().min(1).max(100).describe('What the key is for'),
  operations: z
    .array(z.enum(startOperations))
    .min(1)
    .max(100)
    .optional()
    .describe('The only operations that it may start; default: all that generate'),
  credits_per_month: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe('Credits that its tasks may cost per month in UTC; default: the limit of its user'),
  expires_at: DateTime.max(64)
    .optional()
    .describe('When the key expires; default: a year after it is created'),
});

const extension = 'scripts generate without the credential of a person';

export const key = {
  create: operation('POST /users/keys', {
    summary: 'Create an API key with which a script starts image and video tasks',
    who: 'person',
    status: 201,
    body: NewApiKey,
    response: ApiKey,
    extension,
    secret: true,
  }),
  list: operation('GET /users/keys', {
    summary: 'List your API keys, masked',
    who: 'person',
    response: z.array(ApiKey),
    extension,
  }),
  revoke: operation('DELETE /users/keys/{keyId}', {
    summary: 'Revoke an API key of yours, or as an admin of anyone',
    who: 'person',
    status: 204,
    destroys: { action: 'Revoke API key {keyId}', loss: 'Scripts that use it stop working.' },
    extension,
  }),
};
