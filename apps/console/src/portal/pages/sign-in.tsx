import { Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDocumentTitle } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { responseOf } from '../../api.ts'
import type { Search } from '../../list-search.ts'
import { FailureAlert } from '../../parts/failure-alert.tsx'
import { needed } from '../../parts/form-dialog.tsx'
import { placeAfter } from '../../place-after.ts'
import { queryClient } from '../../session.ts'
import { api } from '../api.ts'
import { memberQuery } from '../session.ts'

export function SignIn() {
  useDocumentTitle('Sign in · svc portal')
  const { back } = useSearch({ strict: false }) as Search
  const router = useRouter()
  const form = useForm({
    initialValues: { name: '', password: '' },
    validate: { name: needed, password: (value) => (value === '' ? 'Needed' : null) },
  })
  const enter = useMutation({
    mutationFn: (body: { name: string; password: string }) => responseOf(api.POST('/session', { body })),
    onSuccess: (session) => {
      queryClient.setQueryData(memberQuery.queryKey, session)
      router.history.push(`/portal${placeAfter(back)}`)
    },
  })
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <div>
            <Title order={1} size="h2">
              svc portal
            </Title>
            <Text c="dimmed">For merchants and partners.</Text>
          </div>
          {enter.error && <FailureAlert failed={enter.error} />}
          <form onSubmit={form.onSubmit((given) => enter.mutate(given))} noValidate>
            <Stack gap="sm">
              <TextInput
                label="Name"
                placeholder="asha@shop.example"
                autoComplete="username"
                autoCapitalize="none"
                {...form.getInputProps('name')}
              />
              <PasswordInput
                label="Password"
                autoComplete="current-password"
                {...form.getInputProps('password')}
              />
              <Button type="submit" loading={enter.isPending}>
                Sign in
              </Button>
              <Text size="xs" c="dimmed">
                No account yet, or the password is lost? An administrator of your company makes a link for
                you.
              </Text>
            </Stack>
          </form>
        </Stack>
      </Paper>
    </Center>
  )
}
