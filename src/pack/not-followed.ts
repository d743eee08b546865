/** Definitions that were too much to follow. */
export const notFollowed = {
  followed: false,
  nodes: [],
  unresolved: [
    {
      file: '__init__.py',
      line: 1,
      what: 'the pack takes too much memory or time to follow; its definitions are missing',
    },
  ],
};
