import {
  type AccessRequest,
  decideAccessRequest,
  listAccessRequests,
} from '@svc/console-api/identity/access-requests'
import type { Command } from 'commander'
import { refused, withAdministrator } from './administrator.ts'
import { withInstallation } from './context.ts'
import { printRecord, printRows } from './print.ts'

interface Json {
  readonly json?: boolean
}

const shown = ({
  approvalId,
  expiresAt,
  kind,
  name,
  outcome,
  requestedAt,
  requestedBy,
  role,
}: AccessRequest) => ({
  approvalId,
  kind,
  name,
  role,
  status: outcome?.toLowerCase() ?? 'waiting',
  requestedBy,
  requestedAt,
  expiresAt,
})

/** What a second administrator decides (decision R10). */
export function addAccessRequestCommands(operator: Command): void {
  operator
    .command('requests')
    .description('list changes of operators that wait for a second administrator')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator requests')
    .action(async ({ json = false }: Json) => {
      const requests = await withInstallation(({ database }) =>
        database.operate((tx) => listAccessRequests(tx, new Date())),
      )
      printRows(requests.map(shown), json)
    })
  for (const [verb, outcome, description] of [
    ['approve', 'APPROVED', 'approve a change that another administrator requested; it happens at once'],
    ['reject', 'REJECTED', 'reject a change that waits for a second administrator'],
  ] as const)
    operator
      .command(`${verb} <approvalId>`)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  svc admin operator ${verb} apv_…`)
      .action(async (approvalId: string, { json = false }: Json) => {
        const decided = await refused(
          withAdministrator({ command: `operator ${verb}` }, ({ database }, { actor }) =>
            database.operate(
              (tx) => decideAccessRequest(tx, { approvalId, outcome, by: actor, now: new Date() }),
              'read committed',
              { actor },
            ),
          ),
        )
        printRecord(shown(decided), json)
      })
}
