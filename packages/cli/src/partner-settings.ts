import { readRecordSettings } from '@svc/core/cards/account/update-record-settings'
import { updateRecordSettingsContract } from '@svc/server/cards/record-settings'
import type { Command } from 'commander'
import { addAssignment, assignmentsOf, readAssignments } from './assignments.ts'
import { cliActor, withInstallation } from './context.ts'
import { printRecord } from './print.ts'
import { requirePartner } from './require-partner.ts'

type Input = Parameters<typeof updateRecordSettingsContract.args>[0]

interface SettingsOptions {
  readonly json?: boolean
  readonly set?: readonly string[]
}

const BODY = updateRecordSettingsContract.body!

/** `svc admin partner settings`: what the records of its cards say where the card account states nothing. */
export function addPartnerSettings(partner: Command): void {
  partner
    .command('settings <partnerId>')
    .description('show or change what the records of its cards say where their card account states nothing')
    .option('--set <field=value>', assignmentsOf(BODY), addAssignment)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  svc admin partner settings par_…
  svc admin partner settings par_… --set svcSupportEmail=help@acme.example --set tncUrl=`,
    )
    .action(settings)
}

async function settings(partnerId: string, { set = [], json = false }: SettingsOptions): Promise<void> {
  const body = readAssignments(BODY, set) as Input['body']
  const shown = await withInstallation(async (context) => {
    const { commands, database } = context
    await database.operate((tx) => requirePartner(tx, partnerId))
    if (set.length === 0) return database.operate((tx) => readRecordSettings(tx, partnerId))
    const input = { caller: { tenantId: partnerId }, body } as Input
    const args = await updateRecordSettingsContract.args(input, context as never)
    const { recordSettings } = await commands.open(updateRecordSettingsContract.run).run(args, {
      actor: cliActor(),
      action: 'partner.record_settings_changed',
      target: partnerId,
      tenantId: partnerId,
    })
    return recordSettings
  })
  printRecord(shown, json)
}
