import packageJson from '../../../package.json' with { type: 'json' };

export const version: string = packageJson.version;

/** The supported versions of Node.js, as a semver range. */
export const supportedNode: string = packageJson.engines.node;
