/** Definitions that were too much to follow. */
export const NOT_FOLLOWED = {
  followed: false,
  nodes: [],
  unresolved: [
    {
      file: '__init__.py',
      line: 1,
      what: 'following them takes too much memory or time',
    },
  ],
};
