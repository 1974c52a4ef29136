import { TextInput } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { FormDialog, type FormProps } from '../parts/form-dialog.tsx'
import { rupees } from '../parts/money.tsx'
import { bodyOf, enterFunding, FUND_RULES, FundFields, type Funding, showEntered } from './fund-form.tsx'

interface FundProps {
  readonly cardAccountId: string
  /** The name of the account, where a small button in a row of a table needs it. */
  readonly compact?: string
}

const EMPTY = { amount: '', reference: '', reason: '' }
const AMOUNT_OF = 'What the partner has paid in, as the bank statement shows it'
const REFERENCE_OF = 'Of the partner’s payment, such as its UTR: each is entered once'

/** Enters what a partner has paid in. */
export function FundCardAccount({ cardAccountId, compact }: FundProps) {
  return (
    <FormDialog
      label={compact ? `Fund ${compact}` : 'Fund'}
      {...(compact && { compact: 'Fund', variant: 'default' })}
      {...fundingForm(cardAccountId)}
    />
  )
}

/** `waits` is called where a second person has to approve. */
export const fundingForm = (
  cardAccountId: string,
  initial: Funding = EMPTY,
  waits?: () => void,
): FormProps<Funding> => ({
  send: 'Enter the money',
  initial,
  rules: FUND_RULES,
  fields: (form) => <FundFields form={form} amountOf={AMOUNT_OF} referenceOf={REFERENCE_OF} />,
  submit: async (funding) => {
    if (await enterFunding(cardAccountId, funding)) waits?.()
  },
})

interface WithdrawProps {
  readonly account: Pick<Schemas['CardAccountDetail'], 'balance' | 'cardAccountId'>
}

/** Enters what was paid back to the partner, at most what is left. */
export function WithdrawFromCardAccount({ account: { balance, cardAccountId } }: WithdrawProps) {
  return (
    <FormDialog
      label="Withdraw"
      send="Enter the withdrawal"
      variant="default"
      initial={EMPTY}
      rules={FUND_RULES}
      fields={(form) => (
        <FundFields
          form={form}
          amountOf={`What was paid back to the partner, at most ${rupees(balance)}`}
          referenceOf="Of the outgoing transfer, such as its UTR: each is entered once"
        />
      )}
      submit={async (withdrawal) => {
        const requested = { params: { path: { cardAccountId } }, body: bodyOf(withdrawal) }
        await showEntered(await responseOf(api.POST('/card-accounts/{cardAccountId}/withdrawals', requested)))
      }}
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
