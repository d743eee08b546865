import { badge } from './badge.js';
import { changesPage } from './changes-page.js';
import { nodePage } from './node-page.js';
import type { Page } from './page.js';
import { publisherPage } from './publisher-page.js';
import { searchPage } from './search-page.js';
import { tasksPage } from './tasks-page.js';
import { versionPage } from './version-page.js';

/** Every page of the service. */
export const pages: readonly Page[] = [
  searchPage,
  nodePage,
  versionPage,
  changesPage,
  publisherPage,
  tasksPage,
  badge,
];
