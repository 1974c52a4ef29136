import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../../api.ts'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { useSession } from '../../session.ts'
import { api } from '../api.ts'
import { useMember } from '../session.ts'

// A tenant is one or the other.
const MerchantHome = lazyPart(async () => (await import('./home-of-merchant.tsx')).MerchantHome, null)
const PartnerHome = lazyPart(async () => (await import('./home-of-partner.tsx')).PartnerHome, null)

const REFRESH_MS = 30_000

/** What a tenant sees first: its money, and what waits for it. */
export function Overview() {
  const { tenantName } = useMember()
  const { timeZone } = useSession()
  const overview = useQuery({
    queryKey: ['overview'],
    queryFn: () => responseOf(api.GET('/overview')),
    refetchInterval: REFRESH_MS,
  })
  const now = new Intl.DateTimeFormat('en-IN', { dateStyle: 'full', timeStyle: 'short', timeZone })
  return (
    <Page
      title={tenantName}
      lead={overview.data && `${now.format(new Date(overview.dataUpdatedAt))}, refreshed by itself`}
    >
      <Loaded query={overview}>
        {({ merchant, partner }) => (
          <>
            {merchant && <MerchantHome home={merchant} />}
            {partner && <PartnerHome home={partner} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}
