import { approveChangeRequest, rejectChangeRequest } from '@svc/console-api/faces/change-request-operations'
import { changeRequest, type ListedChange } from '@svc/server/payments/change-requests'
import type { Command } from 'commander'
import { addNounList } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

/** What merchants ask for by themselves, and an operator approves (decision O8). */
export function addChangeRequestCommands(program: Command): void {
  const group = program
    .command('change-request')
    .description('bank accounts, payment addresses and fees that merchants ask for: list, approve, reject')
  addNounList<ListedChange>(group, changeRequest, {
    by: 'merchantId',
    description: 'list what waits for an operator, newest first',
    example: 'svc admin change-request list --all',
    only: { status: 'PENDING' },
    all: 'also what was approved, rejected or withdrawn',
  })
  addOperation(group, approveChangeRequest, {
    name: 'approve',
    description:
      'set the bank account or the fee, or begin the waiting time of the payment address; who approves a bank account approves no payouts to it',
    example: 'svc admin change-request approve apv_…',
  })
  addOperation(group, rejectChangeRequest, {
    name: 'reject',
    description: 'leave what is there; the merchant reads the reason',
    example: 'svc admin change-request reject apv_… --reason "the holder has another name"',
  })
}
