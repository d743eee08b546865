import { z } from 'zod';
import { getOperation, type TaskOperation } from '../../../contract/index.js';
import type { Problem } from '../../../contract/schema/schema-types.js';
import {
  listPlaceholders,
  type VendorProfile,
  type VendorRoute,
} from '../../configuration/vendor-profile.js';

export type Fields = Readonly<Record<string, unknown>>;

/** The profile of a vendor with the model names of the operator. */
export interface VendorForm {
  readonly profile: VendorProfile;
  readonly models?: Readonly<Record<string, string>> | undefined;
}

/** Chooses the route by the fields that a request has. @returns undefined if the vendor has none */
export function chooseRoute(
  { operations }: VendorProfile,
  operation: TaskOperation,
  request: Fields,
): VendorRoute | undefined {
  return operations[operation]?.find(({ when }) => when.every((field) => hasField(request, field)));
}

/** @param path `images`, or `images.1` for its second item */
function hasField(request: Fields, path: string): boolean {
  const [name = '', at] = path.split('.');
  const value = request[name];
  if (at !== undefined) return Array.isArray(value) && value.length > Number(at);
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

/** The fields of a request as the vendor takes them at a route. */
export function toVendorFields(
  { profile, models }: VendorForm,
  { values, ...route }: VendorRoute,
  request: Fields,
): Fields {
  const { model, ...others } = { ...profile.values, ...values };
  const tables: Tables = { ...others, model: { ...model, ...models } };
  const fields = listSentFields(route);
  const sent = Object.entries(request).filter(([field]) => fields?.includes(field) ?? true);
  const translated = sent.map(([field, value]) => [field, lookUp(tables[field], value) ?? value]);
  return Object.fromEntries(translated);
}

/** @returns undefined if all are sent */
function listSentFields({
  fields,
  body,
}: Pick<VendorRoute, 'fields' | 'body'>): readonly string[] | undefined {
  return body === undefined ? fields : listPlaceholders(body);
}

/**
 * Writes a request in the form of a route: `{image}` stands for the field, and `{images.1}` for an item of a list. What has
 * no value is left out, also lists and objects that only have such.
 */
export function fillForm(form: unknown, fields: Fields): unknown {
  if (typeof form === 'string') {
    const [, whole] = /^\{([\w.]+)\}$/.exec(form) ?? [];
    if (whole !== undefined) return readField(fields, whole);
    return form.replace(/\{([\w.]+)\}/g, (_, path: string) => String(readField(fields, path) ?? '')).trim();
  }
  if (typeof form !== 'object' || form === null) return form;
  const filled = Object.entries(form).map(([key, held]) => [key, fillForm(held, fields)] as const);
  const kept = filled.filter(([, held]) => held !== undefined);
  if (kept.length === 0 && filled.length > 0) return undefined;
  return Array.isArray(form) ? kept.map(([, held]) => held) : Object.fromEntries(kept);
}

function readField(fields: Fields, path: string): unknown {
  const [name = '', at] = path.split('.');
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return at === undefined ? value : Array.isArray(value) ? value[Number(at)] : undefined;
}

type Tables = Readonly<Record<string, Readonly<Record<string, string | number>> | undefined>>;

function lookUp(table: Tables[string], value: unknown): string | number | undefined {
  return table && Object.hasOwn(table, String(value)) ? table[String(value)] : undefined;
}

/**
 * Lists the options of a request that the vendor does not have at its route, so that nothing is charged for a result that
 * was not asked for.
 * @returns undefined if the vendor does not have the operation
 */
export function checkOptions(
  { profile, models }: VendorForm,
  operation: TaskOperation,
  request: Fields,
): Problem[] | undefined {
  const route = chooseRoute(profile, operation, request);
  if (!route) return undefined;
  const tables: Tables = { ...profile.values, ...route.values };
  const fields = listSentFields(route);
  const isSent = (field: string) => fields?.includes(field) ?? true;
  return Object.entries(request).flatMap(([field, value]): Problem[] => {
    if (NOT_OF_VENDORS.includes(field)) return [];
    const table = tables[field];
    if (!isSent(field) && !table) {
      const message = 'is not an option of the vendor of this service for this request';
      return isDefault(operation, field, value) ? [] : [{ path: [field], message }];
    }
    const isKnown = lookUp(table, value) !== undefined || (field === 'model' && lookUp(models, value));
    if (!table || isKnown) return [];
    const names = Object.keys(table).join(', ');
    return [{ path: [field], message: `must be ${names} for the vendor of this service` }];
  });
}

/** What the service itself does. */
const NOT_OF_VENDORS = ['webhook_url', 'callback_url', 'payload', 'video_creation_id'];

function isDefault(operation: TaskOperation, field: string, value: unknown): boolean {
  const { body } = getOperation(operation);
  return body instanceof z.ZodObject && body.shape[field]?.safeParse(undefined).data === value;
}
