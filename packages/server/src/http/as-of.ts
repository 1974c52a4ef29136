import { failField } from '@svc/contract/fail-fields'
import type { TenantClocks } from '@svc/kernel/time'
import { Type } from 'typebox'
import { Instant, readInstant } from './fields.ts'

/** The query of operations that also show what they show as it was. */
export const AsOfQuery = Type.Object(
  {
    asOf: Type.Optional(
      Instant('RFC 3339: shows it as it was at the end of this instant; not in the future, by default now'),
    ),
  },
  { additionalProperties: false },
)

/** The requested instant of the past, by the tenant's clock; 400 where it is in the future. */
export function readAsOf(
  { asOf }: { readonly asOf?: string },
  clock: TenantClocks,
  tenantId: string,
): Date | undefined {
  const at = readInstant('asOf', asOf)
  if (at && at.getTime() > clock.of(tenantId).now()) failField('asOf', 'maximum', 'must not be in the future')
  return at
}
