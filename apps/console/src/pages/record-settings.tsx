import { Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { queryClient, useSession } from '../session.ts'

type Settings = Schemas['RecordSettings']
type Name = keyof Settings

const LABELS: Readonly<Record<Name, string>> = {
  svcSupportEmail: 'Support e-mail address',
  svcSupportMobile: 'Support mobile number',
  partnerLogo: 'Logo (https)',
  defaultCardImage: 'Image of the card (https)',
  tncUrl: 'Terms (https)',
  tncVersionMasterId: 'Version of the terms',
  extEntityId: 'Entity',
  switchProvider: 'Switch provider',
  cardKitMasterId: 'Kit of physical cards',
}
const NAMES = Object.keys(LABELS) as Name[]

type Texts = Record<Exclude<Name, 'cardKitMasterId'>, string | null>
type Change = Texts & { readonly cardKitMasterId: number | null }

/** What a form sends: an empty field unsets the setting. */
const changeOf = ({ cardKitMasterId, ...texts }: Record<Name, string>): Change => ({
  ...(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim() || null])) as Texts),
  cardKitMasterId: cardKitMasterId.trim() === '' ? null : Number(cardKitMasterId),
})

interface FieldsProps {
  readonly settings: Settings
  /** Those that the card account has from its partner. */
  readonly inherited?: readonly string[]
  readonly save: (settings: Change, key: FormKey) => Promise<unknown>
  readonly lead: string
}

/** What the records of cards say, with where it is set, and a form that changes it. */
function RecordFields({ settings, inherited = [], save, lead }: FieldsProps) {
  const { can } = useSession()
  const own = (name: Name) => (inherited.includes(name) ? undefined : settings[name])
  return (
    <Section
      title="What card records say"
      aside={
        can('operations') && (
          <FormDialog
            label="Change card records"
            send="Save"
            variant="default"
            initial={
              Object.fromEntries(NAMES.map((name) => [name, String(own(name) ?? '')])) as Record<Name, string>
            }
            rules={{
              cardKitMasterId: (text: string) => (/^\d*$/.test(text.trim()) ? null : 'A whole number'),
            }}
            fields={(form) => (
              <>
                <Text size="sm" c="dimmed">
                  {lead}
                </Text>
                {NAMES.map((name) => (
                  <TextInput
                    key={name}
                    label={LABELS[name]}
                    {...(inherited.includes(name) && { placeholder: `${settings[name]}, of the partner` })}
                    {...form.getInputProps(name)}
                  />
                ))}
              </>
            )}
            submit={(typed, key) => save(changeOf(typed), key)}
          />
        )
      }
    >
      <Facts
        facts={NAMES.map((name) => ({
          label: LABELS[name],
          value: (
            <>
              {settings[name] ?? '–'}
              {inherited.includes(name) && (
                <Text size="xs" c="dimmed">
                  Of the partner
                </Text>
              )}
            </>
          ),
        }))}
      />
    </Section>
  )
}

/** Of all cards of a partner, unless their card account says otherwise. */
export function PartnerRecordSettings({ partnerId }: { readonly partnerId: string }) {
  const params = { path: { partnerId } }
  const queryKey = ['partners', partnerId, 'record-settings']
  const { data } = useQuery({
    queryKey,
    queryFn: () => responseOf(api.GET('/partners/{partnerId}/record-settings', { params })),
  })
  if (!data) return undefined
  return (
    <RecordFields
      settings={data}
      lead="Holds for all cards of the partner, unless their card account says otherwise. An empty field is not set."
      save={async (body, key) => {
        const keyed = { ...params, header: once(key) }
        await responseOf(api.PATCH('/partners/{partnerId}/record-settings', { params: keyed, body }))
        for (const changed of [queryKey, ['card-accounts'], ['cards']])
          await queryClient.invalidateQueries({ queryKey: changed })
      }}
    />
  )
}

/** Of the cards of one account. */
export function AccountRecordSettings({ account }: { readonly account: Schemas['CardAccountDetail'] }) {
  const { cardAccountId, inheritedSettings } = account
  return (
    <RecordFields
      settings={Object.fromEntries(NAMES.map((name) => [name, account[name]])) as Settings}
      inherited={inheritedSettings}
      lead="Holds for the cards of this account. An empty field has what the partner sets for all its cards."
      save={async (body, key) => {
        const params = { path: { cardAccountId }, header: once(key) }
        await responseOf(api.PATCH('/card-accounts/{cardAccountId}', { params, body }))
        for (const changed of ['card-accounts', 'cards'])
          await queryClient.invalidateQueries({ queryKey: [changed] })
      }}
    />
  )
}
