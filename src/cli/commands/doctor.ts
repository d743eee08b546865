import { z } from 'zod';
import { regen, say } from '../../contract/schema/message.js';
import { toFailure } from '../command/to-failure.js';
import { findStartup } from '../completion/startup.js';
import type { Needs } from '../connect/context.js';
import {
  checkFolder,
  checkKeychain,
  checkProgram,
  checkProxy,
  checkSettings,
  checkTerminal,
  type Finding,
  fail,
  ok,
} from '../doctor/machine.js';
import { checkService } from '../doctor/service.js';
import { exitCodes } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { Row, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<
  'command' | 'system' | 'output' | 'signal' | 'folders' | 'settings' | 'connect' | 'services' | 'mayAsk'
>;

export const view = (): View => ({
  usage: 'doctor',
  summary: 'Check the settings, service, clock, credential, proxy, folders and terminal, and suggest fixes',
  shape: { columns: ['check', 'status', 'detail', 'advice'] },
  examples: ['regen doctor', 'regen doctor --base-url https://registry.example.com --json'],
  answer: Row({
    check: Text,
    status: z.enum(['ok', 'warn', 'fail']),
    detail: Text,
    advice: Text.optional(),
    exit: z.int().optional(),
  }),
});

export async function run(context: Context): Promise<number> {
  const { system, folders, output, command } = context;
  const service = await tryService(context);
  const findings = [
    checkProgram(system),
    checkSettings(context.settings, system),
    ...service.findings,
    await checkKeychain(context.settings, system),
    checkProxy(system, service.url),
    ...(['data', 'state', 'config'] as const).map((name) => checkFolder(name, folders[name])),
    checkTerminal(output, context.mayAsk),
    checkShell(system),
  ];
  if (!output.isTable) {
    const written = findings.map(async ({ advice, ...finding }) => ({
      ...finding,
      ...(advice !== undefined && { advice: await output.render(advice) }),
    }));
    await output.answer(await Promise.all(written), command.shape);
    return findWorst(findings);
  }
  await output.answer(findings, { ...command.shape, columns: ['check', 'status', 'detail'] });
  for (const { check, advice } of findings) if (advice) await output.note(say`${check}: ${advice}`);
  return findWorst(findings);
}

/** Says whether the shell completes commands; without it, everything works. */
function checkShell(system: System): Finding {
  try {
    const startup = findStartup(system);
    if (!startup) return ok('shell', 'not known, or without completion');
    const { shell, path, isOn } = startup;
    return ok(
      'shell',
      isOn ? `${shell}, completion on in ${path}` : `${shell}, completion off (regen completion install)`,
    );
  } catch {
    return ok('shell', 'its startup file cannot be read');
  }
}

/** Reports it as a finding if the service cannot be determined. */
async function tryService(context: Context): Promise<{ url?: string; findings: Finding[] }> {
  try {
    return await checkService(context);
  } catch (error) {
    if (context.signal.aborted) throw error;
    const { message, facts } = toFailure(error);
    return {
      findings: [
        fail(
          'service',
          message,
          facts.exit,
          facts.hint ?? say`Fix it, and run \`${regen('doctor')}\` again.`,
        ),
      ],
    };
  }
}

/** An unreachable service comes first, because the credential cannot be checked without it. */
function findWorst(findings: readonly Finding[]): number {
  const exits = findings.flatMap(({ exit }) => exit ?? []);
  const order = [exitCodes.unreachable, exitCodes.notAllowed, ...exits];
  return order.find((exit) => exits.includes(exit)) ?? exitCodes.done;
}
