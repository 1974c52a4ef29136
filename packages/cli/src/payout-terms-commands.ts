import {
  setBankAccount,
  setFee,
  setPayoutScheduleInConsole,
  showPayoutTerms,
} from '@svc/console-api/faces/payout-terms-operations'
import type { Command } from 'commander'
import { addOperation } from './operation-command.ts'

interface Terms {
  readonly bankAccount: object
  readonly fees: readonly object[]
  readonly schedules: readonly object[]
}

/** Where the money of a merchant goes, what it costs and when it is paid out. */
export function addPayoutTermsCommands(payout: Command): void {
  addOperation(payout, showPayoutTerms, {
    name: 'terms',
    example: 'svc admin payout terms mer_…',
  })
  addOperation(payout, setBankAccount, {
    name: 'account',
    shown: ({ bankAccount }: Terms) => bankAccount,
    example:
      'svc admin payout account mer_… --holder "Corner Shop" --number 000012345678 --ifsc HDFC0000001 --gst-state 29',
  })
  addOperation(payout, setFee, {
    name: 'fee',
    shown: ({ fees }: Terms) => fees,
    flags: { fixed: { value: '0' }, validFrom: { name: 'from' } },
    description: 'set what a merchant is charged for each payment, from a business day on',
    example: 'svc admin payout fee mer_… --percent 1.8 --fixed 2 --from 2026-05-01',
  })
  addOperation(payout, setPayoutScheduleInConsole, {
    name: 'schedule',
    flags: { afterDays: { name: 'after' } },
    shown: ({ schedules }: Terms) => schedules,
    more: 'Day 31 is the last day of every month. A change applies from the next period on.',
    example:
      'svc admin payout schedule mer_… --every week --on mon --after 1 --minimum 100 --reason "agreed on 1 April"',
  })
}
