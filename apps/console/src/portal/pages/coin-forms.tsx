import { Select, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { once } from '../../form-key.ts'
import { shortId } from '../../objects.ts'
import { NO_TERMS, newTermsOf, TERM_RULES, TermFields, TermSample } from '../../parts/coin-terms.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { counted } from '../../parts/money.tsx'
import { personName } from '../../words.ts'
import { api, payloadOf } from '../api.ts'
import { changed } from '../session.ts'
import { useCompanies } from './choices.ts'

export function CreateConfig() {
  const companies = useCompanies()
  return (
    <FormDialog
      label="Create configuration"
      send="Create"
      initial={{ event: '', companyId: '', ...NO_TERMS }}
      rules={{ ...TERM_RULES, event: needed }}
      fields={(form) => (
        <>
          <TextInput
            label="Event"
            description="As your program names it"
            placeholder="purchase.completed"
            {...form.getInputProps('event')}
          />
          <Select
            label="Company"
            description="One outranks what holds for all"
            placeholder="All companies"
            clearable
            data={companies}
            {...form.getInputProps('companyId')}
          />
          <TermFields form={form} />
          <TermSample terms={form.values} />
        </>
      )}
      submit={async ({ companyId, event, ...terms }, key) => {
        await payloadOf(
          api.POST('/svc-coins', {
            params: { header: once(key) },
            body: {
              event: event.trim(),
              ...(companyId && { configuration: 'CUSTOM' as const, companyId }),
              ...newTermsOf(terms),
            },
          }),
        )
        await changed('coins')
      }}
    />
  )
}

/** What an event of a user would award now; nothing is awarded. */
export function TryEvent() {
  const users = useQuery({
    queryKey: ['users', 'choices'],
    queryFn: () => payloadOf(api.GET('/partner/users', { params: { query: { limit: 100 } } })),
  })
  const known = users.data?.data ?? []
  return (
    <FormDialog
      label="Try an event"
      send="Try it"
      variant="default"
      initial={{ event: '', userId: '' }}
      rules={{ event: needed, userId: needed }}
      fields={(form) => (
        <>
          <Text size="sm">Says what the event would award now, and why. Nothing is awarded.</Text>
          <TextInput label="Event" placeholder="purchase.completed" {...form.getInputProps('event')} />
          <Select
            label="User"
            searchable
            data={known.map(({ userId, ...user }) => ({
              value: userId,
              label: personName(user) || user.email || shortId(userId),
            }))}
            {...form.getInputProps('userId')}
          />
        </>
      )}
      submit={async ({ event, userId }) => {
        const companyId = known.find((user) => user.userId === userId)?.companyId ?? ''
        const tried = await payloadOf(
          api.POST('/svc-coins/allocate', {
            body: { requestId: `try-${Date.now()}`, event: event.trim(), userId, companyId, dryRun: true },
          } as never),
        )
        const { amount, reasonDescription } = tried as { amount: number; reasonDescription?: string }
        const message = reasonDescription ?? `It would award ${counted(amount, 'coin')}.`
        notifications.show({ color: reasonDescription ? 'yellow' : 'teal', message })
      }}
    />
  )
}
