import { closeTenant, listTenantClosings, showClosing } from '@svc/console-api/faces/closing-operations'
import type { LeftOpen } from '@svc/console-api/tenant-closing'
import type { Command } from 'commander'
import { addMoveCommand } from './move-command.ts'
import { addOperation } from './operation-command.ts'

/** What ends it, where a command does; the guide has the others. */
const REMEDIES: Readonly<Record<string, string>> = {
  payable: 'svc admin payout run',
  refunds: 'svc admin payments returned, svc admin refund confirm, svc admin refund fail',
  suspense: 'svc admin suspense assign, svc admin suspense return',
  disputes: 'svc admin dispute close',
  advances: 'svc admin books settle merchant_advances:<merchantId>',
  advances_in_credit: 'svc admin payout run',
  card_accounts: 'svc admin card-account withdraw',
  card_exceptions: 'svc admin books settle card_exceptions:<partnerId>',
}

interface Closing {
  readonly closingOn?: string
  readonly closedOn?: string
  readonly left: readonly LeftOpen[]
}

/** What is open, each with its remedy; where nothing is, since when. */
const shown = ({ left, ...since }: Closing) =>
  left.length === 0
    ? since
    : left.map(({ what, count, amount }) => ({ open: what, left: amount ?? count, remedy: REMEDIES[what] }))

const note = ({ closingOn, closedOn }: Closing): string =>
  closingOn === undefined
    ? 'It is not closing: svc admin tenant close'
    : `${closedOn === undefined ? 'Closing' : 'Closed'} since ${closedOn ?? closingOn}`

export function addTenantCommands(program: Command): void {
  const tenant = program
    .command('tenant')
    .description('close merchants and partners that leave, move them between cells')
  addOperation(tenant, closeTenant, {
    name: 'close',
    description:
      'disable a tenant for good, revoke its keys, cancel its codes, and close it once nothing is open',
    more: 'svc admin merchant enable and svc admin partner enable end the closing.',
    example: 'svc admin tenant close mer_… --reason "contract ended on 2026-10-31"',
    shown,
    note,
  })
  addOperation(tenant, showClosing, {
    name: 'closing',
    description: 'show what of a tenant is still open',
    example: 'svc admin tenant closing mer_…',
    shown,
    note,
  })
  addOperation(tenant, listTenantClosings, {
    name: 'closings',
    description: 'list tenants that are closing',
    example: 'svc admin tenant closings --status all',
    shown: ({ data }: { readonly data: readonly object[] }) => data,
  })
  addMoveCommand(tenant)
}
