import type { Readable } from 'node:stream'
import { paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { rupeesText, statementPdf } from './pdf.ts'

interface Line {
  readonly title: string
  readonly unit: string
  readonly accounts: number | undefined
  readonly debit: string
  readonly credit: string
}

interface TrialBalance {
  readonly lines: readonly Line[]
  readonly sums: readonly Pick<Line, 'unit' | 'debit' | 'credit'>[]
  readonly effectiveThrough: string | undefined
  /** Whose accounts; all where it is absent. */
  readonly of: string | undefined
  readonly asOf: Date | undefined
  readonly timeZone: string
  readonly now: Date
}

const TOTAL = 'Total'
const shown = ({ unit }: Pick<Line, 'unit'>, amount: string): string =>
  unit === 'INR' ? rupeesText(paise(BigInt(amount.replace('.', '')))) : amount

/** What all accounts of each kind add up to, for the accountant's file. */
export function trialBalancePdf(found: TrialBalance): Readable {
  const { asOf, effectiveThrough, lines, now, of, sums, timeZone } = found
  const until = rfc3339(asOf ?? now, timeZone)
  const isEven = sums.every(({ credit, debit }) => credit === debit)
  return statementPdf(
    {
      title: 'Trial balance',
      name: of ?? 'All accounts',
      facts: [
        ['Entered until', until],
        ['Effective through', effectiveThrough ?? 'everything that was entered'],
        ['Debit and credit', isEven ? 'equal in each unit' : 'NOT equal'],
      ],
      foot: `Trial balance, entered until ${until}`,
      createdAt: now,
    },
    async (pdf) => {
      for (const sum of sums)
        await pdf.table<Line>(
          sum.unit === 'INR' ? 'Rupees' : 'Coins',
          [
            { title: 'Account', share: 0.46, cell: ({ title }) => title },
            {
              title: 'Accounts',
              share: 0.12,
              align: 'right',
              cell: ({ accounts }) => String(accounts ?? ''),
            },
            { title: 'Debit', share: 0.21, align: 'right', cell: (line) => shown(line, line.debit) },
            { title: 'Credit', share: 0.21, align: 'right', cell: (line) => shown(line, line.credit) },
          ],
          [...lines.filter(({ unit }) => unit === sum.unit), { ...sum, title: TOTAL, accounts: undefined }],
          ({ title }) => title === TOTAL,
        )
    },
  )
}
