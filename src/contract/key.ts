import { z } from 'zod';
import { image } from './image.js';
import { operation } from './operation.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject, defineRequest } from './schema/values.js';
import { Budget, TotalBudget } from './usage.js';
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
  total: TotalBudget.optional().describe('Absent if it has no total limit'),
  created_at: DateTime,
  expires_at: DateTime,
  last_used_at: DateTime.optional(),
});

const MAX_CREDITS = 1_000_000_000;

const expiry = {
  expires_at: DateTime.max(64)
    .optional()
    .describe('When the key expires; default: a year after it is created'),
  expires_in: z
    .int()
    .min(1)
    .max(10 * 365 * 24 * 60 * 60)
    .optional()
    .describe('Seconds until the key expires, in place of expires_at'),
};

const NewApiKey = defineRequest('NewApiKey', {
  name: z
    .string()
    .min(1)
    .max(100)
    .describe('What the key is for. Keys of a user with the same name see the tasks of each other'),
  operations: z
    .array(z.enum(startOperations))
    .min(1)
    .max(100)
    .optional()
    .describe('The only operations that it may start; default: all that generate'),
  credits_per_month: z
    .int()
    .min(0)
    .max(MAX_CREDITS)
    .optional()
    .describe('Credits that its tasks may cost per month in UTC; default: the limit of its user'),
  credits: z
    .int()
    .min(0)
    .max(MAX_CREDITS)
    .optional()
    .describe('Total credits the key may ever spend; default: no total limit'),
  ...expiry,
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
  update: operation('PUT /users/keys/{keyId}', {
    summary: 'Change when an API key of yours expires',
    who: 'person',
    body: defineRequest('ApiKeyExpiry', expiry),
    response: ApiKey,
    extension: 'a key of a program ends soon after the program, unless the program extends it',
  }),
  revoke: operation('DELETE /users/keys/{keyId}', {
    summary: 'Revoke an API key of yours, or as an admin of anyone',
    who: 'person',
    status: 204,
    destroys: { action: 'Revoke API key {keyId}', loss: 'Scripts that use it stop working.' },
    extension,
  }),
};
