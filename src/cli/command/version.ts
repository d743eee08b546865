import packageJson from '../../../package.json' with { type: 'json' };

/** This program's version. */
export const version: string = packageJson.version;

/** The versions of Node it runs on. */
export const neededNode: string = packageJson.engines.node;
