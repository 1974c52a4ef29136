import { TextInput } from '@mantine/core'
import type { Schemas } from '../api.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { shortId } from '../things.ts'
import { enterFunding, FUND_RULES, FundFields } from './fund-form.tsx'

interface FundProps {
  readonly cardAccountId: string
  /** A small button, for rows of a table. */
  readonly compact?: boolean
}

const EMPTY = { amount: '', reference: '', reason: '' }
const AMOUNT_OF = 'What the partner has paid in, as the bank statement shows it'
const REFERENCE_OF = 'Of the partner’s payment, such as its UTR: each is entered once'

/** Enters what a partner has paid in. */
export function FundCardAccount({ cardAccountId, compact = false }: FundProps) {
  return (
    <FormDialog
      label={compact ? `Fund ${shortId(cardAccountId)}` : 'Fund'}
      send="Enter the money"
      {...(compact && { compact: 'Fund', variant: 'default' })}
      initial={EMPTY}
      rules={FUND_RULES}
      fields={(form) => <FundFields form={form} amountOf={AMOUNT_OF} referenceOf={REFERENCE_OF} />}
      submit={(funding) => enterFunding(cardAccountId, funding)}
    />
  )
}

/** Enters the transfer that a notice in quarantine reports, as an operator reads it. */
export function FundByNotice({ notice }: { readonly notice: Schemas['NoticeRecord'] }) {
  const { cardAccountId = '', noticeId, utr = '' } = notice
  return (
    <FormDialog
      label="Enter the money"
      send="Enter the money"
      variant="default"
      initial={{ ...EMPTY, reference: utr, cardAccountId }}
      rules={{
        ...FUND_RULES,
        cardAccountId: (value: string) => (value.trim() ? null : 'The account that it is for: acc_…'),
      }}
      fields={(form) => (
        <>
          <TextInput label="Card account id" placeholder="acc_…" {...form.getInputProps('cardAccountId')} />
          <FundFields form={form} amountOf="As the bank confirms it" referenceOf={REFERENCE_OF} />
        </>
      )}
      submit={({ cardAccountId: to, ...funding }) => enterFunding(to.trim(), funding, noticeId)}
    />
  )
}
