/** One numbered step. A released step is never changed; changes are new steps. */
export interface Migration {
  readonly number: number;
  /** Services of the earlier release may go on while and after it is taken: it only adds what they do not need. */
  readonly rolling?: true;
  /** SQL that both engines accept; `{identity}` and the like stand for the engine's words. */
  readonly statements: readonly string[];
}

/** The events that the feed of public changes tells of. Indexes have this text, so other events need a new step. */
export const PUBLIC_EVENTS = `(subject_kind = 'node' and status is not null
  or action in ('publisher.status', 'version.deprecate', 'version.status', 'version.undeprecate'))`;

/** As `toPlainId` did before letters that look alike. */
export function toPlainSql(column: string): string {
  return `replace(replace(replace(lower(${column}), '-', ''), '_', ''), '.', '')`;
}
