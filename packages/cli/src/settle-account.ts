import { settleLedgerAccount } from '@svc/console-api/faces/settle-account'
import type { Command } from 'commander'
import { addOperation } from './operation-command.ts'

export function addSettleCommand(books: Command): void {
  addOperation(books, settleLedgerAccount, {
    name: 'settle',
    given: { outcome: undefined },
    extra: {
      writeOff: { type: 'boolean', description: 'nothing was paid: the amount is given up' },
    },
    resolve: async ({ writeOff, ...given }) => ({ ...given, outcome: writeOff ? 'WRITTEN_OFF' : 'SETTLED' }),
    description: 'enter that what is open on an account ended outside, or is given up, at most what is open',
    more: `What the network or the bank settled, or a merchant repaid to the bank, is entered by its reference. Accounts:
merchant_advances, payout_exceptions, refund_exceptions and accrued_fees of a merchant, card_exceptions of a partner,
settlement_unmatched, network_unmatched and bank_exceptions of the platform (house), tds_receivable of a merchant.
What is owed to us and written off is an expense; what we owe and is never claimed is income.`,
    example: [
      'svc admin books settle merchant_advances:mer_… --amount 1500.00 --reference AXISN0000000042 --reason "repaid"',
      'svc admin books settle settlement_unmatched:house --amount 12.00 --reference HDFCN0000000042 --reason "sent back"',
      'svc admin books settle card_exceptions:par_… --amount 35.00 --reference MEMO20261031 --reason "given up" --write-off',
    ],
  })
}
