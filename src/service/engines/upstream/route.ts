import { z } from 'zod';
import { getOperation, type TaskOperation } from '../../../contract/index.js';
import type { Problem } from '../../../contract/schema/schema-types.js';
import type { VendorProfile, VendorRoute } from '../../configuration/vendor-profile.js';

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
  { fields, set, values }: VendorRoute,
  request: Fields,
): Fields {
  const { model, ...others } = { ...profile.values, ...values };
  const tables: Tables = { ...others, model: { ...model, ...models } };
  const sent = Object.entries(request).filter(([field]) => fields?.includes(field) ?? true);
  const translated = sent.map(([field, value]) => [field, lookUp(tables[field], value) ?? value]);
  return { ...Object.fromEntries(translated), ...set };
}

type Tables = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

function lookUp(table: Tables[string], value: unknown): string | undefined {
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
  const isSent = (field: string) => route.fields?.includes(field) ?? true;
  return Object.entries(request).flatMap(([field, value]): Problem[] => {
    if (NOT_OF_VENDORS.includes(field)) return [];
    const table = tables[field];
    if (!isSent(field)) {
      const message = 'is not an option that the vendor of this service has for this request';
      return isDefault(operation, field, value) ? [] : [{ path: [field], message }];
    }
    if (!table || lookUp(table, value) || (field === 'model' && lookUp(models, value))) return [];
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
