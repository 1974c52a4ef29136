import { type Command, InvalidArgumentError } from 'commander'
import { readSandbox } from './tenant-session.ts'
import type { Overrides } from './trigger-event.ts'

/** `svc trigger`, beside the database of a sandbox. */
export function addTriggerCommand(program: Command): void {
  program
    .command('trigger <event>')
    .description('make a real event happen to a demo tenant of the sandbox of this machine')
    .option(
      '--override <field=value>',
      'replace this field of the requests that cause the event; may be repeated',
      readOverride,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svc trigger card.created\n  svc trigger qr_code.credited --override amount=249.5',
    )
    .action(trigger)
}

/** Adds a field to what the trigger sends: JSON where it is some, else text. */
function readOverride(text: string, before: Overrides = {}): Overrides {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError('Give it as field=value.')
  return { ...before, [text.slice(0, equals)]: parsedOr(text.slice(equals + 1)) }
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

async function trigger(type: string, { override = {} }: { readonly override?: Overrides }): Promise<void> {
  const { triggerEvent } = await import('./trigger-event.ts')
  process.stdout.write(`${await triggerEvent(await readSandbox(), type, override)}\n`)
}
