import { Anchor, Group, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { lazyPart } from '../parts/lazy-part.tsx'
import type { PageTab } from '../parts/page-tabs.tsx'
import { TenantClosing } from '../parts/tenant-closing.tsx'
import { TenantHandovers } from '../parts/tenant-handovers.tsx'
import { TenantMembers } from '../parts/tenant-members.tsx'
import { useSession } from '../session.ts'

const TenantCredentials = lazyPart(
  async () => (await import('../parts/tenant-credentials.tsx')).TenantCredentials,
)
const TestClock = lazyPart(async () => (await import('../parts/test-clock.tsx')).TestClock, null)
const Webhooks = lazyPart(async () => (await import('./lists-of-both.tsx')).WebhooksOf)
const Audit = lazyPart(async () => (await import('./lists-of-both.tsx')).AuditOf)

/** A tab of a merchant’s or a partner’s page. */
export interface TenantPart {
  readonly tenantId: string
}

export const WEBHOOKS_TAB: PageTab<TenantPart> = {
  key: 'webhooks',
  label: 'Webhooks',
  Part: ({ tenantId }) => <Webhooks of={{ tenantId }} />,
}
export const AUDIT_TAB: PageTab<TenantPart> = {
  key: 'audit',
  label: 'Audit',
  Part: ({ tenantId }) => <Audit of={{ tenantId }} />,
}

export const Keys = ({ tenantId }: TenantPart) => (
  <>
    <TenantCredentials tenantId={tenantId} />
    <TenantHandovers tenantId={tenantId} />
  </>
)

/** Who acts for the tenant; how it leaves, and in the sandbox its time. */
export const People = ({ tenantId }: TenantPart) => (
  <Stack gap="md">
    <TenantMembers tenantId={tenantId} />
    <TenantClosing tenantId={tenantId} />
    <TestClock tenantId={tenantId} />
  </Stack>
)

export const PeopleAndKeys = (of: TenantPart) => (
  <Stack gap="md">
    <Keys {...of} />
    <People {...of} />
  </Stack>
)

/** Where the work of a role begins on a tenant’s page: `keys` is the tab with its keys. */
export function useFirstTab(keys: string): string | undefined {
  const { role } = useSession()
  return role === 'operations' ? keys : role === 'auditor' ? 'audit' : undefined
}

interface TenantLinksProps extends TenantPart {
  readonly refundsOf?: { readonly merchantId: string }
}

/** To what has no tab. */
export const TenantLinks = ({ tenantId, refundsOf }: TenantLinksProps) => (
  <Group gap="md">
    {refundsOf && (
      <Anchor component={Link} to="/refunds" search={refundsOf as never} size="sm">
        Refunds
      </Anchor>
    )}
    <Anchor component={Link} to="/requests" search={{ tenantId } as never} size="sm">
      Requests
    </Anchor>
  </Group>
)
