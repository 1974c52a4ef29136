import { listAt } from '../api.ts'
import { ListOfTenant, type OfTenant } from '../parts/list-of-tenant.tsx'
import { DISPUTES } from './disputes.tsx'
import { PAYMENTS } from './payments.tsx'
import { PAYOUTS } from './payouts.tsx'
import { QR_CODES } from './qr-codes.tsx'

interface Of {
  readonly of: OfTenant
}

export const DisputesOf = ({ of }: Of) => (
  <ListOfTenant {...DISPUTES} load={listAt('/disputes', {}, { ...of })} of={of} />
)

export const PaymentsOf = ({ of }: Of) => (
  <ListOfTenant {...PAYMENTS} load={listAt('/payments', {}, { ...of })} of={of} />
)

export const PayoutsOf = ({ of }: Of) => (
  <ListOfTenant {...PAYOUTS} load={listAt('/payouts', {}, { ...of })} of={of} />
)

export const QrCodesOf = ({ of }: Of) => (
  <ListOfTenant {...QR_CODES} load={listAt('/qr-codes', {}, { ...of })} of={of} />
)
