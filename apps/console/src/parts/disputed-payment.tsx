import { Money } from './money.tsx'
import { ObjectLink } from './object-link.tsx'
import type { Fact } from './page.tsx'

interface DisputedPayment {
  readonly paymentId: string
  readonly utr: string
  readonly amount: number
  readonly payerVpa?: string | undefined
  readonly referenceNumber?: string | undefined
}

/** What a dispute shows of its payment, to operators and to the merchant. */
export const factsOfPayment = ({
  amount,
  payerVpa,
  paymentId,
  referenceNumber,
  utr,
}: DisputedPayment): readonly Fact[] => [
  {
    label: 'UTR',
    value: (
      <ObjectLink kind="payment" id={paymentId}>
        {utr}
      </ObjectLink>
    ),
  },
  { label: 'Amount', value: <Money amount={amount} /> },
  { label: 'Payer', value: payerVpa },
  { label: 'Order', value: referenceNumber },
]
