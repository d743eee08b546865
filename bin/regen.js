#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { run } from '../dist/cli.js';

process.exitCode = await run(process.argv.slice(2), fileURLToPath(import.meta.url));
