import { writeMessages } from '@svc/console-api/alerts/alert-messages'
import { type Alert, acknowledgeAlert, listAlerts, statusOf } from '@svc/console-api/alerts/alert-store'
import { Failure } from '@svc/contract/errors'
import { idMaker } from '@svc/contract/id-kinds'
import { systemClock } from '@svc/kernel/time'
import type { Command } from 'commander'
import { cliActor, withInstallation } from './context.ts'
import { printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const shown = (alert: Alert) => ({
  alertId: alert.alertId,
  status: statusOf(alert),
  severity: alert.severity,
  kind: alert.kind,
  objectId: alert.objectId || null,
  openedAt: alert.openedAt,
  acknowledgedBy: alert.acknowledgedBy,
  note: alert.note,
  closedAt: alert.closedAt,
  detail: alert.detail,
})

export function addAlertCommands(program: Command): void {
  const alert = program
    .command('alerts')
    .description('list and acknowledge conditions of the service that people must act on')
  alert
    .command('list')
    .description('list alerts whose condition lasts, newest first')
    .option('--all', 'also those that are closed')
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .action(async ({ all = false, limit, json = false }: Json & { all?: boolean; limit: number }) => {
      const found = await withInstallation(({ database }) =>
        database.operate((tx) => listAlerts(tx, all, limit)),
      )
      printRows(found.map(shown), json)
    })
  alert
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
        const { alert, newly } = await acknowledgeAlert(tx, requested)
        const tools = {
          config,
          newId: idMaker(systemClock, keyMaker.random),
          publicUrl: () => config.PUBLIC_URL ?? '',
        }
        if (newly) writeMessages(tx, tools, 'alert.acknowledged', [alert], now)
        return alert
      }),
    )
    printRecord(shown(acknowledged), json)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new UsageError(`${error.description} (${alertId}). List alerts with: svc admin alerts list --all`)
  }
}
