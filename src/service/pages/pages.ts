import { drawFeed, drawNodeFeed } from './atom-feed.js';
import { drawBadge } from './badge.js';
import { drawChangesPage } from './changes-page.js';
import { drawNodePage } from './node-page.js';
import type { Draw } from './page.js';
import type { PAGES, PageName } from './page-list.js';
import { drawPublisherPage } from './publisher-page.js';
import { drawSearchPage } from './search-page.js';
import { drawTasksPage } from './tasks-page.js';
import { drawVersionPage } from './version-page.js';

export const drawings: { readonly [Name in PageName]: Draw<(typeof PAGES)[Name]['operation']> } = {
  search: drawSearchPage,
  node: drawNodePage,
  version: drawVersionPage,
  changes: drawChangesPage,
  publisher: drawPublisherPage,
  tasks: drawTasksPage,
  badge: drawBadge,
  feed: drawFeed,
  nodeFeed: drawNodeFeed,
};
