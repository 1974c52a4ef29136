import { listAt } from '../api.ts'
import { ListOfTenant, type OfTenant } from '../parts/list-of-tenant.tsx'
import { AUDIT } from './audit.tsx'
import { WEBHOOKS } from './webhooks.tsx'

interface Of {
  readonly of: OfTenant
}

export const AuditOf = ({ of }: Of) => (
  <ListOfTenant {...AUDIT} load={listAt('/audit', {}, { ...of })} of={of} />
)

export const WebhooksOf = ({ of }: Of) => (
  <ListOfTenant {...WEBHOOKS} load={listAt('/webhooks', {}, { ...of })} of={of} />
)
