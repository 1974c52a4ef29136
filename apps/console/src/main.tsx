import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './styles.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './router.tsx'
import { queryClient } from './session.ts'
import { readable, theme } from './theme.ts'

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={readable} defaultColorScheme="auto">
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
