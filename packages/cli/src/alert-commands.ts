import { writeMessages } from '@svc/console-api/alerts/alert-messages'
import { type Alert, acknowledgeAlert, alert, alertToWire } from '@svc/console-api/alerts/alert-store'
import { Failure } from '@svc/contract/errors'
import { idMaker } from '@svc/contract/id-kinds'
import { systemClock } from '@svc/kernel/time'
import type { Command } from 'commander'
import { cliActor, withInstallation } from './context.ts'
import { addNounList, printNoun } from './noun-commands.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

export function addAlertCommands(program: Command): void {
  const group = program
    .command('alerts')
    .description('list and acknowledge conditions of the service that people must act on')
  addNounList<Alert>(group, alert, {
    description: 'list alerts whose condition lasts, newest first',
    example: 'svc admin alerts list --severity critical',
    only: { status: 'lasting' },
    all: 'also those that are closed',
  })
  group
    .command('acknowledge <alertId>')
    .description('record that you take care of an alert; a repeat prints the first acknowledgement')
    .requiredOption('--note <text>', 'what is done about it')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin alerts acknowledge alr_… --note "the bank was asked, ticket 1042"',
    )
    .action(acknowledge)
}

async function acknowledge(
  alertId: string,
  { note, json = false }: Json & { readonly note: string },
): Promise<void> {
  if (note.trim() === '') throw new UsageError('--note must not be empty')
  const now = new Date()
  try {
    const acknowledged = await withInstallation(({ config, database, keyMaker }) =>
      database.operate(async (tx) => {
        const requested = { alertId, note: note.trim(), by: cliActor(), now }
        const done = await acknowledgeAlert(tx, requested)
        const tools = {
          config,
          newId: idMaker(systemClock, keyMaker.random),
          publicUrl: () => config.PUBLIC_URL ?? '',
        }
        if (done.newly) writeMessages(tx, tools, 'alert.acknowledged', [done.alert], now)
        return alertToWire(done.alert, config.BUSINESS_TIME_ZONE)
      }),
    )
    printNoun(acknowledged, json)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new UsageError(`${error.description} (${alertId}). List alerts with: svc admin alerts list --all`)
  }
}
