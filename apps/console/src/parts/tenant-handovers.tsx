import { Checkbox, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { reportWaiting } from '../pages/access-requests.tsx'
import { queryClient, useSession } from '../session.ts'
import { type Column, DataTable } from './data-table.tsx'
import { FormDialog, needed } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { Section } from './page.tsx'
import { SecretOnce } from './secret-once.tsx'
import { StatusBadge } from './status-badge.tsx'

const PATH = '/tenants/{tenantId}/handovers'

const COLUMNS: readonly Column<Schemas['Handover']>[] = [
  { title: 'To', cell: ({ name }) => name },
  { title: 'State', cell: ({ state }) => <StatusBadge state={state} /> },
  {
    title: 'By',
    cell: ({ createdBy, createdOn }) => (
      <>
        {createdBy}
        <Text size="xs" c="dimmed">
          <Instant at={createdOn} />
        </Text>
      </>
    ),
  },
  { title: 'Works until', cell: ({ expiresOn }) => <Instant at={expiresOn} /> },
  { title: 'Opened', cell: ({ openedOn }) => <Instant at={openedOn} /> },
]

/** Makes the link that hands over credentials, and lets the lists show it. */
export async function handOver(
  tenantId: string,
  body: { name: string; sharedKey: boolean },
): Promise<string> {
  const made = await responseOf(api.POST(PATH, { params: { path: { tenantId } }, body }))
  await reportWaiting(made)
  for (const key of ['handovers', 'members'])
    await queryClient.invalidateQueries({ queryKey: [key, tenantId] })
  return made.link
}

export const LINK_LOST =
  'Send it to the person over a channel that you trust: it works once, for three days. The credentials are issued when it is opened. If it is lost, make another one.'

/** To whom credentials were handed over, and a button that does it. */
export function TenantHandovers({ tenantId }: { readonly tenantId: string }) {
  const { can } = useSession()
  const [link, setLink] = useState<string>()
  const query = useQuery({
    queryKey: ['handovers', tenantId],
    queryFn: () => responseOf(api.GET(PATH, { params: { path: { tenantId } } })),
  })
  const isPartner = tenantId.startsWith('par_')
  return (
    <Section
      title="Hand-over"
      aside={
        can('operations') && (
          <FormDialog
            label="Hand over credentials"
            send="Make the link"
            variant="default"
            initial={{ name: '', sharedKey: isPartner }}
            rules={{ name: needed }}
            fields={(form) => (
              <>
                <PersonInput {...form.getInputProps('name')} />
                {isPartner && (
                  <Checkbox
                    label="With a shared encryption key"
                    description="Without one, the partner encrypts to the service’s published keys"
                    {...form.getInputProps('sharedKey', { type: 'checkbox' })}
                  />
                )}
              </>
            )}
            submit={async ({ name, sharedKey }) =>
              setLink(await handOver(tenantId, { name: name.trim(), sharedKey }))
            }
          />
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed" size="sm">
              Nothing yet. A link that works once issues credentials to a person of the tenant and shows them
              there; you never see them.
            </Text>
          ) : (
            <DataTable
              caption="Hand-overs"
              columns={COLUMNS}
              rows={data}
              rowKey={({ memberId }) => memberId}
            />
          )
        }
      </Loaded>
      <SecretOnce what="link" secret={link} lost={LINK_LOST} onDone={() => setLink(undefined)} />
    </Section>
  )
}

/** Who opens the link, and becomes an administrator of the portal. */
export function PersonInput(props: object) {
  return (
    <TextInput
      label="Person who gets the credentials"
      description="Signs in to the portal under this name: small letters, such as an e-mail address"
      placeholder="asha@partner.example"
      autoCapitalize="none"
      {...props}
    />
  )
}
