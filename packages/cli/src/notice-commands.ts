import {
  assignNotice,
  dismissNoticeByOperator,
  reopenNoticeByOperator,
} from '@svc/console-api/faces/notice-operations'
import type { RailNotice } from '@svc/core/rails/rail-notice'
import { railNotice } from '@svc/server/rails/rail-notices'
import type { Command } from 'commander'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

export function addNoticeCommands(program: Command): void {
  const group = program
    .command('notice')
    .description('list, show, assign, dismiss and reopen notices of the bank that are or were in quarantine')
  addNounList<RailNotice>(group, railNotice, {
    description: 'list notices that wait to be assigned, newest first',
    example: 'svc admin notice list --all --q AXISN0000000042',
    only: { status: 'QUARANTINED' },
    all: 'also those that were assigned, dismissed or ignored, and repeats in other words',
  })
  addNounShow<RailNotice>(group, railNotice, {
    id: 'noticeId',
    description: 'show a notice with its body as the bank signed it',
    example: 'svc admin notice show rnt_…',
  })
  addOperation(group, assignNotice, {
    name: 'assign',
    description:
      'record the payment that a notice in quarantine reports; it follows the rules of any credit. ' +
      'Above APPROVAL_ABOVE_RUPEES it waits for a second person. A notice of a dispute is carried out again as the bank signed it, without further options',
    example: [
      'svc admin notice assign rnt_… --utr AXISN0000000042 --amount 249.50 --tr SVC…',
      'svc admin notice assign rnt_…    # a notice of a dispute',
    ],
  })
  addOperation(group, dismissNoticeByOperator, {
    name: 'dismiss',
    description: 'end a notice in quarantine without effect: it reports nothing that is to be recorded',
    example: 'svc admin notice dismiss rnt_… --reason "the bank sent a test"',
  })
  addOperation(group, reopenNoticeByOperator, {
    name: 'reopen',
    description: 'put a notice that was dismissed by mistake back into quarantine',
    example: 'svc admin notice reopen rnt_… --reason "the bank confirms the credit"',
  })
}
