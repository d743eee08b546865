import { failureOf } from '../command/failure-of.js';
import type { Invocation } from '../command/invocation.js';
import type { Finding } from '../doctor/finding.js';
import { fail } from '../doctor/finding.js';
import { checkKeychain } from '../doctor/keychain.js';
import { checkFolder, checkProgram, checkProxy, checkSettings, checkTerminal } from '../doctor/machine.js';
import { checkService } from '../doctor/service.js';
import { exitCodes } from '../terminal/failure.js';

/** Looks at everything a command depends on, and says what to do about what is wrong. Starts and changes nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const { system, folders, output, command } = invocation;
  const service = await attempt(invocation);
  const findings = [
    checkProgram(system),
    checkSettings(invocation),
    ...service.findings,
    await checkKeychain(invocation),
    checkProxy(system, service.url),
    checkFolder(system, 'data', folders.data),
    checkFolder(system, 'state', folders.state),
    checkFolder(system, 'config', folders.config),
    checkTerminal(invocation),
  ];
  await output.answer(findings, command.shape);
  return worst(findings);
}

/** What keeps every command from even finding its service is a finding too. */
async function attempt(invocation: Invocation): Promise<{ url?: string; findings: Finding[] }> {
  try {
    return await checkService(invocation);
  } catch (error) {
    if (invocation.signal.aborted) throw error;
    const { message, facts } = failureOf(error);
    return { findings: [fail('service', message, facts.exit, facts.hint ?? 'Mend it.')] };
  }
}

/** An unreachable service explains more than a credential that nobody could look at. */
function worst(findings: readonly Finding[]): number {
  const exits = findings.flatMap(({ exit }) => exit ?? []);
  const order = [exitCodes.unreachable, exitCodes.notAllowed, ...exits];
  return order.find((exit) => exits.includes(exit)) ?? exitCodes.done;
}
